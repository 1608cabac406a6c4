import { rmSync } from 'node:fs'
import { buildBundles } from '../bundles.ts'
import { SECOND, wait } from './asking.ts'
import type { Incident } from './incident.ts'
import { INCIDENTS } from './incidents.ts'
import { judge } from './judge.ts'
import { endAll } from './scratch.ts'
import { startWatching, type Told, WAYS } from './watcher.ts'

interface Row {
  servers: string
  incident: string
  happened: string
  told: string
  wrong: string
}

/**
 * `npm run real`: the product against servers that others wrote, on this machine alone.
 *
 *   --list                      what there is
 *   --only <server>,<incident>  those whose name holds one of the texts
 */
async function main(args: readonly string[]): Promise<number> {
  const only = args[args.indexOf('--only') + 1]?.split(',')
  const wanted = args.includes('--only') && only ? INCIDENTS.filter((incident) => isNamed(incident, only)) : INCIDENTS
  if (args.includes('--list')) {
    for (const { needs, name } of wanted) console.log(`${needs.join(' + ')}: ${name}`)
    return 0
  }
  const bundles = buildBundles()
  const rows: Row[] = []
  try {
    for (const incident of wanted) {
      const row = await play(incident, bundles.dist)
      rows.push(row)
      console.log(lineOf(row))
    }
  } finally {
    endAll()
    rmSync(bundles.root, { recursive: true, force: true })
  }
  const wrong = rows.filter((row) => row.wrong !== '').length
  console.log(`\n${rows.length - wrong} right, ${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

function isNamed({ needs, name }: Incident, only: readonly string[]): boolean {
  return only.some((text) => needs.includes(text) || name.includes(text))
}

async function play(incident: Incident, dist: string): Promise<Row> {
  const row = { servers: incident.needs.join(' + '), incident: incident.name }
  try {
    const prepared = await incident.prepare()
    const watching = await startWatching({ dist, ...prepared })
    try {
      const happened = await prepared.happen(watching)
      // What is wrong may come late.
      await wait(5 * SECOND)
      const all = WAYS.map((way) => ({ way, told: [...watching.told(way)] }))
      const views = prepared.shared
        ? [{ way: 'either', told: all.flatMap(({ told }) => told).sort((a, b) => a.after - b.after) }]
        : all
      const wrong = [
        ...views.flatMap(({ way, told }) => judge(told, prepared).map((what) => `${way}: ${what}`)),
        ...((await prepared.check?.(watching)) ?? []),
      ]
      if (wrong.length > 0)
        console.error(explain(incident, views, WAYS.map((way) => watching.complaints(way)).join('\n')))
      const told = views.map(({ way, told }) => `${way}: ${told.map(shortly).join('; ') || 'nothing'}`).join('\n')
      return { ...row, happened, told, wrong: wrong.join('; ') }
    } finally {
      await watching.stop()
      await prepared.end()
    }
  } catch (error) {
    return {
      ...row,
      happened: 'could not be played',
      told: '',
      wrong: error instanceof Error ? error.message : String(error),
    }
  }
}

function shortly({ after, title, priority }: Told): string {
  return `${Math.round(after)} s “${title}” (${priority})`
}

function explain(incident: Incident, views: { way: string; told: readonly Told[] }[], complaints: string): string {
  const parts = views.flatMap(({ way, told }) =>
    told.map(
      ({ after, reason, rule, title, message }) =>
        `${way} ${after.toFixed(0)} s ${reason} ${rule}\n${title}\n${message}\n`,
    ),
  )
  return [`--- ${incident.name}`, ...parts, complaints.trim().slice(0, 3_000), '---'].join('\n')
}

/** One row of a Markdown table. */
function lineOf({ servers, incident, happened, told, wrong }: Row): string {
  const cells = [
    servers,
    incident,
    happened,
    told.replaceAll('\n', '<br>'),
    wrong === '' ? 'right' : `**wrong**: ${wrong}`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

process.once('SIGINT', () => {
  endAll()
  process.exit(130)
})
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  endAll()
  console.error(error)
  return 1
})
