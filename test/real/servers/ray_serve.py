"""Ray Serve with one deployment of two replicas, until it is ended: ray_serve.py '{"port": …, "metrics": …}'."""

import asyncio
import json
import signal
import sys

import ray
from ray import serve
from starlette.requests import Request

wanted = json.loads(sys.argv[1])


@serve.deployment(num_replicas=2, max_ongoing_requests=2, ray_actor_options={"num_cpus": 0})
class Chat:
    """Takes as long as it is asked to, of two requests at a time."""

    async def __call__(self, request: Request) -> dict[str, bool]:
        body = await request.json()
        if body.get("fail"):
            raise RuntimeError("this request was meant to fail")
        await asyncio.sleep(body["seconds"])
        return {"answered": True}


ray.init(
    num_cpus=2,
    include_dashboard=False,
    object_store_memory=100_000_000,
    _metrics_export_port=wanted["metrics"],
    _temp_dir=wanted["home"],
)
serve.start(http_options={"host": "127.0.0.1", "port": wanted["port"]})
serve.run(Chat.bind())
print("serves", flush=True)
signal.sigwait({signal.SIGTERM})
ray.shutdown()
