"""Which node a driver joins; what Ray does then is the business of tests/ray."""

from raydap.cluster.ray_process import ray_driver


def test_the_addresses_of_this_machine() -> None:
    assert ray_driver._is_local_address("127.0.0.1")
    assert not ray_driver._is_local_address("192.0.2.1")
    assert not ray_driver._is_local_address("head.example")
