import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import yaml from 'js-yaml'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEngine } from '../tools/simulator/engine.ts'
import { type Inbox, openInbox } from '../tools/simulator/inbox.ts'
import { type Loopback, serveOnLoopback } from '../tools/simulator/loopback.ts'
import { vllmPage } from '../tools/simulator/page.ts'
import { type Bundles, buildBundles } from './bundles.ts'
import { CREDENTIALS, startS3 } from './store/s3-server.ts'

let bundles: Bundles
let inbox: Inbox
let server: Loopback
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))
beforeEach(async () => {
  inbox = await openInbox()
  const engine = createEngine(0, {}, { arrivals: 8 })
  engine.advance(120_000)
  server = await serveOnLoopback((_request, response) => response.end(vllmPage(engine)))
})
afterEach(() => Promise.all([inbox.close(), server.close()]))

function variables(): Record<string, string> {
  return { VLLM_ENDPOINTS: `chat=${server.url}`, NOTIFLY_URL: inbox.url, NOTIFLY_TOKEN: 't' }
}

/** A folder as the example wants it: the command line and its `.env`. */
function install(name: string): string {
  const folder = join(bundles.root, name)
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(bundles.dist, 'queuebell.mjs'), join(folder, 'queuebell.mjs'))
  const lines = Object.entries(variables()).map(([variable, value]) => `${variable}=${value}\n`)
  writeFileSync(join(folder, '.env'), lines.join(''))
  return folder
}

/** Runs without waiting in this process: the servers live here. */
function ran(
  command: string,
  args: string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<number | null> {
  const env = { PATH: process.env.PATH, ...options.env }
  const child = spawn(command, args, { cwd: options.cwd, env, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}

test('cron: the line of the crontab tells of a queue, and the next minute is silent', async () => {
  const line = readFileSync('examples/cron/crontab', 'utf8')
    .split('\n')
    .find((text) => text.includes('invoke vllm'))
  const [, command = ''] = /^\* \* \* \* \* queuebell (.*) 2>&1 \| logger -t queuebell$/.exec(line ?? '') ?? []
  const folder = install('cron')
  const there = command.replace('/opt/queuebell', folder)
  expect(there).toContain(folder)
  expect(await ran('sh', ['-c', there], { cwd: '/' })).toBe(0)
  expect(inbox.received).toHaveLength(1)
  expect(await ran('sh', ['-c', there], { cwd: '/' })).toBe(0)
  expect(inbox.received).toHaveLength(1)
})

const systemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!systemd)(
  `systemd: the units are well-formed${systemd ? '' : ' (skipped: no systemd-analyze here)'}`,
  () => {
    const units = ['queuebell@.service', 'queuebell@.timer'].map((unit) => `examples/systemd/${unit}`)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  },
)

test('systemd: the command of the unit runs with the settings of its environment file and its state folder', async () => {
  const unit = readFileSync('examples/systemd/queuebell@.service', 'utf8')
  const folder = install('systemd')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
  const [program = '', ...args] = value('ExecStart')
    .replaceAll('/opt/queuebell', folder)
    .replace('%i', 'vllm')
    .split(' ')
  const state = join(folder, 'state')
  expect(value('Environment')).toBe('STATE_DIR=/var/lib/queuebell')
  expect(await ran(program, args, { cwd: folder, env: { ...variables(), STATE_DIR: state } })).toBe(0)
  expect(readFileSync(join(state, 'vllm.json'), 'utf8')).toContain('chat')
})

test('container: entry point and command of the Dockerfile watch until they are stopped', async () => {
  const dockerfile = readFileSync('examples/container/Dockerfile', 'utf8')
  const list = (name: string) => JSON.parse(new RegExp(`^${name} (.*)$`, 'm').exec(dockerfile)?.[1] ?? '[]') as string[]
  const folder = install('container')
  const [program = '', ...args] = [...list('ENTRYPOINT'), ...list('CMD')]
  const there = args.map((argument) => argument.replace('/app', folder))
  const child = spawn(program, there, {
    cwd: folder,
    env: { PATH: process.env.PATH, STATE_DIR: folder, ...variables() },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await expect.poll(() => inbox.received.length, { timeout: 15_000 }).toBe(1)
  child.kill('SIGTERM')
  await ended
})

test('container: the compose file builds from the clone, waits for a push on its way, and writes only to its volume', () => {
  const { services, volumes } = yaml.load(readFileSync('examples/container/compose.yaml', 'utf8')) as Compose
  const { queuebell, gotify } = services
  const context = join('examples/container', queuebell.build.context)
  expect(readdirSync(context)).toContain('package-lock.json')
  expect(readFileSync(join(context, queuebell.build.dockerfile), 'utf8')).toContain('ENTRYPOINT')
  expect(queuebell).toMatchObject({ read_only: true, environment: { NOTIFLY_URL: 'http://gotify' } })
  const mounted = [...queuebell.volumes, ...gotify.volumes].map((volume) => volume.split(':')[0])
  expect(mounted.sort()).toEqual(Object.keys(volumes).sort())
})

interface Compose {
  services: {
    queuebell: { build: { context: string; dockerfile: string }; volumes: string[] }
    gotify: { volumes: string[] }
  }
  volumes: Record<string, null>
}

test('container: the image is built from the files of a clone that its ignore file lets through', {
  tags: ['long'],
  timeout: 180_000,
}, async () => {
  const dockerfile = readFileSync('examples/container/Dockerfile', 'utf8')
  const letThrough = readFileSync('examples/container/Dockerfile.dockerignore', 'utf8').match(/(?<=^!).*$/gm) ?? []
  const folder = join(bundles.root, 'clone')
  for (const name of letThrough) cpSync(name, join(folder, name), { recursive: true })
  const [build = ''] = dockerfile.split(/^FROM (?!.* AS )/m)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/.test(name)))
  for (const [, command = ''] of build.matchAll(/^RUN (.*)$/gm))
    expect(await ran('sh', ['-c', command], { cwd: folder, env: env as Record<string, string> }), command).toBe(0)
  expect(readdirSync(join(folder, 'dist'))).toContain('queuebell.mjs')
})

test('Kubernetes: the Deployment runs once, for all that is configured, with its state on a volume', () => {
  const documents = yaml.loadAll(readFileSync('examples/kubernetes/deployment.yaml', 'utf8')) as Record<
    string,
    unknown
  >[]
  const deployment = documents.find(({ kind }) => kind === 'Deployment') as { spec: unknown }
  expect(deployment.spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'Recreate' },
    template: {
      spec: {
        containers: [
          { args: ['invoke', 'all', '--every', '1m'], volumeMounts: [{ name: 'state', mountPath: '/state' }] },
        ],
        volumes: [{ name: 'state', persistentVolumeClaim: { claimName: 'queuebell' } }],
      },
    },
  })
})

test('Kubernetes: one job at a time, never tried again, its arguments are those of the command line', async () => {
  const [settings, job] = yaml.loadAll(readFileSync('examples/kubernetes/cronjob.yaml', 'utf8')) as Record<
    string,
    never
  >[]
  expect(job).toMatchObject({
    kind: 'CronJob',
    spec: { concurrencyPolicy: 'Forbid', jobTemplate: { spec: { backoffLimit: 0 } } },
  })
  const [container] = (job as unknown as CronJob).spec.jobTemplate.spec.template.spec.containers
  const folder = install('kubernetes')
  const s3 = await startS3()
  const env = { ...(settings as unknown as { data: Record<string, string> }).data, ...variables(), ...CREDENTIALS }
  const args = [join(folder, 'queuebell.mjs'), ...(container?.args ?? [])]
  const where = { S3_ENDPOINT: s3.endpoint, S3_FORCE_PATH_STYLE: 'yes', STATE_BUCKET: s3.bucket }
  expect(await ran('node', args, { cwd: bundles.root, env: { ...env, ...where } })).toBe(0)
  expect([...s3.objects.keys()]).toContain('queuebell/vllm.json')
  await s3.close()
})

interface CronJob {
  spec: { jobTemplate: { spec: { template: { spec: { containers: { args: string[] }[] } } } } }
}

test("Yandex Cloud: a timer's message names the tick, the same message twice is a duplicate", async () => {
  const folder = join(bundles.root, 'yandex')
  mkdirSync(folder)
  copyFileSync('examples/yandex-cloud/index.mjs', join(folder, 'index.mjs'))
  for (const file of ['vllm.mjs', 'vllm.cjs']) copyFileSync(join(bundles.dist, file), join(folder, file))
  const s3 = await startS3()
  const where = { S3_ENDPOINT: s3.endpoint, S3_FORCE_PATH_STYLE: 'yes', STATE_BUCKET: s3.bucket }
  // https://yandex.cloud/en/docs/functions/concepts/trigger/timer
  const event = {
    messages: [
      {
        event_metadata: {
          event_type: 'yandex.cloud.events.serverless.triggers.TimerMessage',
          created_at: '2026-11-30T12:00:00.000000Z',
        },
        details: { trigger_id: 'a1s' },
      },
    ],
  }
  const code = `const { handler } = await import('./index.mjs')
    const told = []
    for (let i = 0; i < 2; i += 1) told.push(JSON.parse((await handler(${JSON.stringify(event)}, { functionName: 'd4e' })).body).outcome)
    process.exitCode = told.join() === 'completed,duplicate' ? 0 : 1`
  const env = { ...variables(), ...CREDENTIALS, ...where }
  expect(await ran('node', ['--input-type=module', '-e', code], { cwd: folder, env })).toBe(0)
  expect(inbox.received).toHaveLength(1)
  await s3.close()
})
