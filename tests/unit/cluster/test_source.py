"""Which source the settings name."""

import pytest

from raydap.cluster.fixed_addresses import FixedAddresses
from raydap.cluster.ray_cluster import RayCluster
from raydap.cluster.source import choose
from raydap.core.settings import AttachSettings, LaunchSettings


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        (AttachSettings(workers=("127.0.0.1:5678",)), FixedAddresses),
        (LaunchSettings(program="x", workers=("127.0.0.1:5678",)), FixedAddresses),
        (AttachSettings(), RayCluster),
        (AttachSettings(dashboard="http://127.0.0.1:8265"), RayCluster),
    ],
)
def test_the_settings_choose_the_source(settings: AttachSettings, kind: type) -> None:
    assert isinstance(choose(settings, print, patient=False), kind)
