"""The language server shows the workers of a launched program in its source."""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path

from dap_client import Client as DapClient
from local_cluster import Cluster

from support import launched
from support.launched_program import PROGRAM
from support.lens_client import LensClient
from support.look import go_on


def test_the_actors_of_a_launched_program(cluster: Cluster, children: ExitStack, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    adapter = children.enter_context(DapClient.spawn([sys.executable, "-m", "raydap", "adapter"]))

    async def test() -> None:
        client = LensClient(path)
        await client.start()
        try:
            await client.open()
            await asyncio.to_thread(launched.start, adapter, cluster, tmp_path, PROGRAM, "return product")
            stops = [await asyncio.to_thread(adapter.wait_event, "stopped") for _ in range(2)]
            await client.wait_lenses({3: "2 stopped here", 5: "2 stopped here"})
            hover = await client.hover(5, 9)
            assert hover.count("| stopped at line 7 |") == 2, hover
            inputs = ["width 2 to 3", "height = 3"]
            product = "product 6 to 9"
            await client.wait_values(7, {5: inputs, 6: [product, *inputs], 7: [product]})
            await asyncio.to_thread(go_on, adapter, stops[0])
            await asyncio.to_thread(go_on, adapter, stops[1])
            await asyncio.to_thread(launched.ended, adapter)
            await asyncio.to_thread(adapter.request, "disconnect")
            await client.wait_lenses({})
        finally:
            await client.hang_up()

    asyncio.run(asyncio.wait_for(test(), 120))
