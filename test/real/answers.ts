import { ask, MINUTE, until } from './asking.ts'
import type { Program } from './scratch.ts'

/** Waits until a server that was started answers with 200. @throws with the end of its log when it ended or did not come. */
export async function answers(name: string, program: Program, url: string, limit = MINUTE): Promise<void> {
  const isUp = async () => {
    if (program.isOver()) throw new Error(`${name} ended at its start:\n${program.log().slice(-1_500)}`)
    return (await ask(url)).status === 200
  }
  await until(`${name} answers`, isUp, limit).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : error}\n${program.log().slice(-1_500)}`)
  })
}
