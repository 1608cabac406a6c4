import type { Incident } from './incident.ts'
import { incidentsAround } from './incidents/around.ts'
import { llamaServerIncidents } from './incidents/llama-server.ts'

export const INCIDENTS: readonly Incident[] = [...llamaServerIncidents, ...incidentsAround]
