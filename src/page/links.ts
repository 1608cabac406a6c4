import { makeToken } from './tokens.ts'

/** What signs links, and where they lead. */
export interface LinkBase {
  /** Without a slash at the end. */
  url: string
  secret: string
}

const HOUR = 3_600_000
/** Milliseconds that a link to act, and one to a picture, hold. */
const ACTS = 24 * HOUR
const SHOWS = 7 * 24 * HOUR
/** Incidents of one link: more would make it too long for a message. */
const MOST = 10
/** All functions. */
export const ALL = '*'

export function statusLink({ url, secret }: LinkBase): string {
  return `${url}/s/${makeToken(secret, 'status', { function: ALL, subject: '' })}`
}

/** @param name of a function; absent: all of them. */
export function badgeLink({ url, secret }: LinkBase, name = ALL): string {
  return `${url}/badge/${makeToken(secret, 'badge', { function: name, subject: '' })}.svg`
}

/** @param incidents their ids, the worst first. @param now epoch milliseconds. */
export function actLink({ url, secret }: LinkBase, name: string, incidents: readonly string[], now: number): string {
  const subject = incidents.slice(0, MOST).join('\n')
  return `${url}/a/${makeToken(secret, 'act', { function: name, subject, end: now + ACTS })}`
}

export function pictureLink({ url, secret }: LinkBase, name: string, incident: string, now: number): string {
  return `${url}/i/${makeToken(secret, 'image', { function: name, subject: incident, end: now + SHOWS })}.png`
}

/** The endpoint and the rule that an incident's id names. */
export function partsOf(incident: string): { endpoint: string; rule: string } {
  const [endpoint = '', rule = ''] = incident.split('|')
  return { endpoint, rule }
}
