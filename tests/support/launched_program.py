"""A program without breakpoint(), for editors to launch."""

PROGRAM = """\
import ray

@ray.remote(num_cpus=0.1)
class Rectangle:
    def area(self, width, height):
        product = width * height
        return product

ray.init()
rectangles = [Rectangle.remote() for _ in range(2)]
total = sum(ray.get([each.area.remote(width, 3) for width, each in enumerate(rectangles, 2)]))
print(f"total: {total}")
"""
