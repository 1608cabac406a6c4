import { scheduled } from '../src/scheduled.ts'

export const handler = scheduled('ray-serve')
