import { benchStart } from './process-start.ts'
console.log(await benchStart(+(process.argv[2]??5), ['vllm','heartbeat-check'] as any)); process.exit(0)
