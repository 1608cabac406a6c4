import { openInbox, type Received } from './inbox.ts'

/** A push as it stands on the phone. */
export function onPhone({ title = '', message, priority = 0 }: Partial<Received>): string[] {
  const rule = '─'.repeat(74)
  const lines = [title, ...(message ?? '').split('\n')]
  return [`┌─ push, priority ${priority} ${rule}`.slice(0, 77), ...lines.map((line) => `│ ${line}`), `└${rule}`]
}

/** `npm run phone`: a push server to play with, which prints what a phone would show, until stopped. */
async function main(portText = '8070'): Promise<void> {
  const inbox = await openInbox(Number(portText), (push) => {
    console.log(`\n${new Date().toISOString().slice(11, 19)} UTC`)
    for (const line of onPhone(push)) console.log(line)
  })
  console.log(`A push server that answers as Gotify does, and takes any token: ${inbox.url}`)
  console.log('What it is sent is printed here. For .env:')
  console.log(`NOTIFLY_URL=${inbox.url}`)
  console.log('NOTIFLY_TOKEN=any')
}

if (process.argv[1]?.endsWith('phone.ts'))
  await main(process.argv[2]).catch((error: unknown) => {
    console.error(`npm run phone -- <port>: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  })
