import type { Incident } from './incident.ts'
import { incidentsAround } from './incidents/around.ts'
import { calmHours } from './incidents/calm.ts'
import { litellmIncidents } from './incidents/litellm.ts'
import { llamaServerIncidents } from './incidents/llama-server.ts'
import { routerIncidents } from './incidents/routers.ts'
import { vllmIncidents } from './incidents/vllm.ts'

export const INCIDENTS: readonly Incident[] = [
  ...llamaServerIncidents,
  ...incidentsAround,
  ...vllmIncidents,
  ...litellmIncidents,
  ...routerIncidents,
  calmHours,
]
