"""llama.cpp's own server, as the package xllamacpp links it, until it is ended: llama_server.py '{"model": …, "port": …}'."""

import json
import signal
import sys

import xllamacpp

wanted = json.loads(sys.argv[1])
params = xllamacpp.CommonParams()
params.model.path = wanted["model"]
params.port = wanted["port"]
params.n_parallel = wanted["slots"]
params.n_ctx = wanted["context"]
params.api_keys = wanted["keys"]
params.check_tensors = wanted["checks"]
params.n_threads_http = 64
params.cache_ram_mib = 0
params.endpoint_metrics = True
params.endpoint_slots = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
if wanted["alias"]:
    params.model_alias = {wanted["alias"]}
server = xllamacpp.Server(params)
print("listens at", server.listening_address, flush=True)
signal.pause()
