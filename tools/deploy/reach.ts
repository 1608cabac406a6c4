import { type FunctionName, type Variables, variablesOf } from './variables.ts'

/** What stands in the way of a function that runs in AWS. */
export interface Reach {
  problems: string[]
  warnings: string[]
}

/** Opened by a person's phone, not asked by a function. */
const FOR_PEOPLE = /_(RUNBOOK|DASHBOARD)_URL$|^PAGE_URL$/

/**
 * Addresses that a deployed function cannot reach: loopback is the function itself, and a private one is only there from
 * inside a VPC. The variables are named, their texts are not shown: they may hold secrets.
 */
export function reachOf(names: readonly FunctionName[], env: Variables, vpc: boolean): Reach {
  const problems = new Set<string>()
  const inside = new Map<string, Set<string>>()
  for (const name of names) {
    for (const [variable, text] of Object.entries(variablesOf(name, env))) {
      if (FOR_PEOPLE.test(variable)) continue
      if (PEM.test(variable) && !text.trim().startsWith('/opt/')) problems.add(`${variable}: ${NOT_THERE}`)
      for (const host of hostsIn(text)) {
        if (isLoopback(host)) problems.add(`${variable}: ${host} is the function itself once it is deployed; ${BETTER}`)
        else if (isPrivate(host)) inside.set(variable, (inside.get(variable) ?? new Set()).add(host))
      }
    }
  }
  const warnings = [...inside].map(([variable, hosts]) => `${variable}: ${[...hosts].join(', ')} ${PRIVATE}`)
  return { problems: [...problems], warnings: vpc ? [] : warnings }
}

/** Paths of files, which are read where the function runs. */
const PEM = /(^|_)TLS_(CA|CERT|KEY)$/
const NOT_THERE = 'is a file of this machine; a function has only what a layer puts below /opt'
const BETTER = 'write an address that it can reach from AWS'
const PRIVATE =
  'can only be reached from inside your network: set DEPLOY_SUBNETS and DEPLOY_SECURITY_GROUPS, so that the functions run there'

/** The hosts of all addresses in a variable's text, without brackets. */
function hostsIn(text: string): string[] {
  return [...text.matchAll(/\bhttps?:\/\/[^\s,]+/gi)].flatMap(([address]) =>
    URL.canParse(address) ? [new URL(address).hostname.replace(/^\[|\]$/g, '')] : [],
  )
}

function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|::1|::|::ffff:7f.*|host\.docker\.internal)$/i.test(host)
}

/** RFC 1918, 4193, 6598 and 3927, and names that no public DNS knows. */
function isPrivate(host: string): boolean {
  if (host.includes(':')) return /^f[cd]|^fe[89ab]/i.test(host)
  if (/^\d+(\.\d+){3}$/.test(host)) return PRIVATE_RANGES.test(host)
  return !host.includes('.') || /\.(local|internal|lan|home\.arpa|svc|cluster\.local|corp)$/i.test(host)
}

const PRIVATE_RANGES = /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/
