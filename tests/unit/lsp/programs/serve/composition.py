"""Deployments that are functions, wrapped classes and models of a registry."""

from ray import serve


@serve.deployment
def preprocess(request):  # runs in: serve
    return normalized(request)


def normalized(request):  # runs in: serve
    return request


class Model:
    async def __call__(self, request):  # runs in: serve
        return await self.predict(request)

    async def predict(self, request):  # runs in: serve
        return request


class Client:
    def __call__(self, request):
        return request

    def close(self):
        print("closed")


@serve.deployment
class Router:
    def __init__(self, *models):  # runs in: serve
        self.models = dict(enumerate(models))

    @serve.multiplexed(max_num_models_per_replica=3)
    async def model(self, name):  # runs in: serve
        return self.models[name]


deployed = serve.deployment(autoscaling_config={"max_replicas": 4})(Model)
application = Router.bind(deployed.bind(), preprocess.bind())

if __name__ == "__main__":
    serve.start(http_options={"port": 8001})
    serve.run(application, name="models")
    Client().close()
