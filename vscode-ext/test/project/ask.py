"""A program that asks its user."""

name = input("Which run? ")
greeting = f"run {name}"
print(greeting)
