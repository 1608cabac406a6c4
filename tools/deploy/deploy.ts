import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { didYouMean } from '../../src/cli/command-line.ts'
import { loadEnvFile } from '../../src/cli/env-file.ts'
import { swallowed } from '../../src/cli/swallowed.ts'
import { misspeltIn, unknownWords } from '../../src/config/known-names.ts'
import { parsePage } from '../../src/config/page.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { parseReceiver } from '../../src/config/receiver.ts'
import { readSchedule } from '../../src/heartbeats/schedule.ts'
import { type CostLine, monthlyCost } from './cost.ts'
import { functionsFor, timeoutOf } from './functions.ts'
import { readPrices } from './prices.ts'
import { reachOf } from './reach.ts'
import { access, ownSecrets, removeSecrets, saveSecrets } from './secrets.ts'
import { type Deployment, parseDeployment } from './settings.ts'
import { configuredFunctions, type FunctionName, isScheduled, type Variables, variablesOf } from './variables.ts'

const USAGE = `npm run deploy -- [--package | --remove] [--yes]

  --package   stops after packaging: nothing is created, no account is needed
  --remove    takes everything away but the state, and says what stays
  --yes       does not ask

What is deployed stands in .env: VLLM_ENDPOINTS and others, NOTIFLY_URL, and DEPLOY_… (docs/operating.md).`

const FLAGS = { package: {}, remove: {}, yes: {} }

/** `npm run deploy`: check, package, show, ask, deploy. @returns the exit code. */
async function deploy(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) return say(USAGE, 0)
  const lost = swallowed('deploy', FLAGS, args, process.env)
  if (lost !== undefined) return say(lost, 1)
  const strange = strangeIn(args)
  if (strange !== undefined) return say(`${strange}\n\n${USAGE}`, 1)
  const has = (flag: keyof typeof FLAGS) => args.includes(`--${flag}`)
  if (has('package') && has('remove')) return say('--package makes what --remove takes away: leave one of them out', 1)
  // It would stand three times between our lines; `doctor` says it once.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const unread = loadEnvFile('.env')
  if (unread !== undefined) return say(unread, 1)
  const env = process.env
  const parsed = parseDeployment(env)
  const names = configuredFunctions(env)
  if (has('remove'))
    return 'problems' in parsed ? say(parsed.problems.join('\n'), 1) : remove(names, parsed.deployment, has('yes'))
  const { problems: away, warnings } = reachOf(names, env, Boolean(env.DEPLOY_SUBNETS?.trim()))
  const problems = [...('problems' in parsed ? parsed.problems : []), ...problemsOf(names, env), ...away]
  if ('problems' in parsed || problems.length > 0) return say(problems.join('\n'), 1)
  const { deployment } = parsed
  for (const warning of warnings) say(`! ${warning}`, 0)
  if (await isBroken('node', ['esbuild.config.mjs', '--quiet', ...cachesFor(names, deployment)], env)) return 1
  say(plan(names, deployment, env), 0)
  // The stage goes along, so that the framework and we mean the same one.
  const stage = ['--stage', deployment.stage]
  if (has('package')) return (await isBroken('osls', ['package', ...stage], env)) ? 1 : 0
  await access(deployment.region)
  const refusal = has('yes') ? undefined : await refused('Deploy?', 'Nothing was created.')
  if (refusal !== undefined) return say(refusal, 1)
  await saveSecrets(ownSecrets(names, env), deployment, (line) => say(line, 0))
  return (await isBroken('osls', ['deploy', ...stage], env)) ? 1 : 0
}

/** Of npm's package for Lambda's version, where `npm ci --prefix test/runtime` was run. */
const DEPLOYED_NODE = 'test/runtime/node_modules/node24/bin/node'

/** A code cache holds for one version of V8 and one architecture; there is none where this machine is of another. */
function cachesFor(names: readonly string[], { architecture }: Deployment): string[] {
  if ((architecture === 'arm64') !== (process.arch === 'arm64')) return ['--no-cache']
  const node = existsSync(DEPLOYED_NODE) ? [`--node=${DEPLOYED_NODE}`] : []
  return [...node, ...names.map((name) => `--cache=${name}`)]
}

/**
 * Takes the stack and the parameters away. The state stays: a bucket of one's own is never touched, and one that the stack
 * made is kept by its deletion policy, so that a deployment that comes back tells nothing twice.
 */
async function remove(names: readonly FunctionName[], deployment: Deployment, yes: boolean): Promise<number> {
  const { region, stage, bucket, prefix } = deployment
  const secrets = ownSecrets(names, process.env)
  say(
    [
      `Will be removed from ${region}: the stack queuebell-${stage} (functions, schedules, roles, alarms, logs)` +
        (secrets.size > 0 ? ` and ${secrets.size} parameters below /queuebell/${stage}/.` : '.'),
      bucket
        ? `Stays: the state in your bucket ${bucket}, below ${prefix}.`
        : `Stays: the bucket that the stack made for the state (its name begins with queuebell-${stage}-statebucket). When it is no longer wanted, empty and delete it by hand.`,
    ].join('\n'),
    0,
  )
  await access(region)
  const refusal = yes ? undefined : await refused('Remove?', 'Nothing was removed.')
  if (refusal !== undefined) return say(refusal, 1)
  if (await isBroken('osls', ['remove', '--stage', stage], process.env)) return 1
  await removeSecrets(secrets, deployment, (line) => say(line, 0))
  return 0
}

/** The first word that is no flag of ours. */
function strangeIn(args: readonly string[]): string | undefined {
  const strange = args.find((arg) => !Object.keys(FLAGS).includes(arg.replace(/^--/, '')) || !arg.startsWith('--'))
  if (strange === undefined) return undefined
  if (!strange.startsWith('-')) return `deploy takes nothing after it: ${strange}; DEPLOY_STAGE in .env names the stage`
  const known = Object.keys(FLAGS).map((flag) => `--${flag}`)
  return `deploy has no option ${strange}${didYouMean(strange, known)}`
}

/** What each function would refuse in Lambda, found before anything is created; the same problem once. */
function problemsOf(names: readonly FunctionName[], env: Variables): string[] {
  if (names.length === 0) return ['Nothing to deploy: set VLLM_ENDPOINTS, or those of another backend, in .env']
  const problems = names.flatMap((name) => {
    // The bucket is made by the deployment.
    const variables = { ...variablesOf(name, env), STATE_BUCKET: env.STATE_BUCKET || 'made-by-the-deployment' }
    const parsed =
      name === 'page'
        ? parsePage(variables, LAMBDA)
        : name === 'heartbeat-receive'
          ? parseReceiver(variables, LAMBDA)
          : parseConfig(name, variables, { ...LAMBDA, readSchedule })
    return 'problems' in parsed ? parsed.problems : []
  })
  // A misspelt name is passed to no function, so that none could refuse it.
  const misspelt = misspeltIn(env).map((unknown) => `${unknown.name}: ${unknownWords(unknown)}`)
  return [...new Set([...problems, ...misspelt])]
}
const LAMBDA = { lambda: true }

function plan(names: readonly FunctionName[], deployment: Deployment, env: Variables): string {
  const entries = Object.keys(functionsFor(env, deployment)) as FunctionName[]
  const { region, stage, schedule, memory, architecture, vpc, bucket, prefix, alarmEmail, shards } = deployment
  const prices = readPrices()
  const cost = monthlyCost(names, deployment, prices)
  return [
    '',
    `Will be created in ${region}, stage ${stage}, as the stack queuebell-${stage}:`,
    ...entries.map(
      (name) =>
        `  function ${name.padEnd(18)} ${whenOf(name, schedule, shards)}, at most ${timeoutOf(name, deployment)} s`,
    ),
    `  each with ${memory} MB on ${architecture}${vpc ? `, in the subnets ${vpc.subnetIds.join(', ')}` : ''}`,
    bucket
      ? `  state in your bucket ${bucket}, below ${prefix}`
      : `  a private, encrypted bucket for the state, below ${prefix}`,
    `  alarms on errors, throttles and "did not run"${alarmEmail ? `, by e-mail to ${alarmEmail}` : ', without an e-mail (DEPLOY_ALARM_EMAIL)'}`,
    ...(vpc
      ? ['  In a VPC the functions need a NAT gateway, or an S3 gateway endpoint and a way to the push server.']
      : []),
    '',
    'A month costs about, in US dollars at list price (after the free tier):',
    ...cost.map(costText),
    costText({
      what: 'Together',
      count: 0,
      unit: '',
      dollars: sum(cost, 'dollars'),
      dollarsAfterFree: sum(cost, 'dollarsAfterFree'),
    }),
    ...(deployment.metrics === 'all'
      ? [
          `METRICS=all adds about ${prices.Metrics.dollars.toFixed(2)} for each signal of each endpoint: some 4 dollars for one of vLLM (docs/logs.md).`,
        ]
      : []),
    '',
  ].join('\n')
}

function whenOf(name: FunctionName, schedule: string, shards: number): string {
  if (!isScheduled(name)) return 'at its own address'
  return shards > 1 && name !== 'heartbeat-check' ? `${schedule}, in ${shards} parts` : schedule
}

function costText({ what, count, unit, dollars, dollarsAfterFree }: CostLine): string {
  const amount = unit ? `${count.toLocaleString('en', { maximumFractionDigits: count < 10 ? 2 : 0 })} ${unit}` : ''
  return `  ${what.padEnd(22)}${amount.padStart(22)}  ${dollars.toFixed(2).padStart(7)}  (${dollarsAfterFree.toFixed(2)})`
}

function sum(lines: readonly CostLine[], key: 'dollars' | 'dollarsAfterFree'): number {
  return lines.reduce((total, line) => total + line[key], 0)
}

/** Asks the person. @returns why nothing is done; `undefined` after a yes. */
async function refused(question: string, otherwise: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return `${otherwise.replace(/\.$/, '')}: there is no terminal to ask in. Add --yes.`
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await asking.question(`${question} [y/N] `)
  asking.close()
  return /^y(es)?$/i.test(answer.trim()) ? undefined : otherwise
}

/** Runs a program of this package with our own terminal. */
function isBroken(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env })
    child.once('error', reject)
    child.once('close', (code) => resolve(code !== 0))
  })
}

function say(text: string, code: number): number {
  const print = code === 0 ? console.log : console.error
  print(text)
  return code
}

process.exitCode = await deploy(process.argv.slice(2)).catch((error: unknown) =>
  say(error instanceof Error ? error.message : String(error), 1),
)
