import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import { dcgm } from './dcgm.ts'
import { gateway } from './gateway.ts'
import { llamacpp } from './llamacpp.ts'
import { sglang } from './sglang.ts'
import { tei } from './tei.ts'
import { tgi } from './tgi.ts'
import { vllm } from './vllm.ts'

/** The table of every backend whose readings come from a Prometheus text page. */
export const TABLES: Record<ScrapedBackend, BackendTable> = { vllm, tgi, tei, sglang, llamacpp, dcgm, gateway }
