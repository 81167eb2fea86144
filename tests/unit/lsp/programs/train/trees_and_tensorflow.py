"""Trainers of other libraries."""

import ray
from ray.train.lightgbm import LightGBMTrainer
from ray.train.tensorflow import TensorflowTrainer
from ray.train.xgboost import XGBoostTrainer


def boost(config):  # runs in: train
    shard = ray.train.get_dataset_shard("train")
    return fit(shard)


def fit(shard):  # runs in: train
    return shard


def keras_loop():  # runs in: train
    import tensorflow as tf

    def build():  # runs in: train
        return tf.keras.Sequential()

    with tf.distribute.MultiWorkerMirroredStrategy().scope():
        build().fit()


class Trainer:
    def __init__(self, loop):
        self.loop = loop

    def fit(self):
        return self.loop()


def local_loop():
    return 1


dataset = ray.data.read_csv("s3://table.csv")
XGBoostTrainer(boost, datasets={"train": dataset}).fit()
LightGBMTrainer(train_loop_per_worker=boost, datasets={"train": dataset}).fit()
TensorflowTrainer(keras_loop).fit()
Trainer(local_loop).fit()
