import { readSchedule } from '../src/heartbeats/schedule.ts'
import { scheduled } from '../src/scheduled.ts'

export const handler = scheduled('heartbeat-check', readSchedule)
