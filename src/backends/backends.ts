import { type Backend, type BackendTable, type ScrapedBackend, WITHOUT_TABLE } from '../model/backend.ts'
import { dcgm } from './dcgm.ts'
import { dynamo } from './dynamo.ts'
import { epp } from './epp.ts'
import { gateway } from './gateway.ts'
import { genai } from './genai.ts'
import { litellm } from './litellm.ts'
import { llamacpp } from './llamacpp.ts'
import { lmdeploy } from './lmdeploy.ts'
import { mistralrs } from './mistralrs.ts'
import { rayServe } from './ray-serve.ts'
import { router } from './router.ts'
import { sglang } from './sglang.ts'
import { tei } from './tei.ts'
import { tgi } from './tgi.ts'
import { triton } from './triton.ts'
import { trtllm } from './trtllm.ts'
import { vllm } from './vllm.ts'

/** Every server whose readings come from a Prometheus text page, in the order of the documentation. */
const tables = {
  vllm,
  tgi,
  tei,
  sglang,
  llamacpp,
  dcgm,
  gateway,
  trtllm,
  dynamo,
  litellm,
  epp,
  router,
  triton,
  lmdeploy,
  mistralrs,
  genai,
  'ray-serve': rayServe,
} satisfies Record<string, BackendTable>

declare module '../model/backend.ts' {
  interface ScrapedBackends extends Record<keyof typeof tables, BackendTable> {}
}

export const TABLES: Record<ScrapedBackend, BackendTable> = tables

/** All that we watch, each with a function of its name. */
export const BACKENDS: readonly Backend[] = [...(Object.keys(tables) as ScrapedBackend[]), ...WITHOUT_TABLE]
