#!/usr/bin/env node
import { endWithReader } from './closed-pipe.ts'
import { runCommand } from './commands.ts'

endWithReader()
process.exitCode = await runCommand(process.argv.slice(2))
