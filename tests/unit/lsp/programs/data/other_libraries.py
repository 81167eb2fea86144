"""Methods with the names of Ray Data's, of objects that are none of its datasets."""

import ray
from datasets import load_dataset
from pyspark.sql import SparkSession


def tokenize(example):
    return example


def shape(row):
    return row


def main():
    ray.init()
    texts = load_dataset("texts", split="train")
    texts = texts.map(tokenize, batched=True).filter(len)
    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet("rows").rdd.flatMap(shape).map(shape)
    return texts, rows
