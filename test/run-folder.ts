import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Before the first test file: a folder that all files of this run share. @returns what removes it after the last one. */
export default function openRunFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'queuebell-run-'))
  process.env.QUEUEBELL_TEST_RUN = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
