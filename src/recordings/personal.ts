/**
 * Labels that say who asked: LiteLLM and gateways publish them (user, key, team, address, browser). The name of the
 * label stays and its value becomes a number, the same for the same value in one recording: series stay apart and add
 * up as they did, and nobody is named.
 */
const PERSONAL =
  /^(.*_)?(user|users|username|user_name|user_?id|user_?email|end_?user|email|e_mail|mail|customer|tenant|team|org|organi[sz]ation|account|principal|caller|requester|session|api_?key|apikey|hashed_?(api_?)?key|key_(alias|name|hash)|client_?(ip|addr|address|host)|remote_?(ip|addr|address|host)|source_?ip|ip|ip_?address|forwarded_for|user_?agent|token|auth|authorization|password|secret|cookie)(_(id|alias|name|hash|email))?$/i

/** Values that name a person or open a door under whatever label: e-mail addresses and keys of hosted services. */
const TELLING =
  /[\w.+-]+@[\w-]+\.[a-z]{2,}|\b(sk|pk|rk|key|ghp|xox[a-z])-[\w-]{8,}|\bBearer\s+\S+|\beyJ[\w-]{10,}\.[\w-]+/i

/** `{name="value"` or `,name="value"`; a quoted name is Prometheus 3's. */
const LABEL = /([{,]\s*)("?)([a-zA-Z_][\w.]*)\2(\s*=\s*")((?:[^"\\]|\\.)*)"/g
/** Nothing of this in a page: it is kept as it came, without a look at each label. */
const SUSPECT =
  /user|mail|customer|tenant|team|org|account|principal|caller|requester|session|key|ip"?\s*=|client|remote|forwarded|agent|token|auth|password|secret|cookie|@|\b[sprk]k-|Bearer|eyJ/i

export type Scrub = (page: Uint8Array) => Uint8Array

/** One for each recording: the numbers count from its beginning. */
export function createScrub(hide: (text: string) => string, secrets: readonly string[]): Scrub {
  const numbers = new Map<string, Map<string, number>>()
  const numberOf = (label: string, value: string): number => {
    const known = numbers.get(label) ?? new Map<string, number>()
    numbers.set(label, known)
    const number = known.get(value) ?? known.size + 1
    known.set(value, number)
    return number
  }
  return (page) => {
    // One character a byte: what is not ours to change stays as it came, whatever its encoding.
    const text = Buffer.from(page.buffer, page.byteOffset, page.byteLength).toString('latin1')
    const bare = SUSPECT.test(text) ? text.replace(LABEL, numbered(numberOf)) : text
    const isLeaking = secrets.some((secret) => secret.length > 2 && bare.includes(secret))
    if (!isLeaking && bare === text) return page
    return Buffer.from(isLeaking ? hide(bare) : bare, 'latin1')
  }
}

/** Whether a label's value must not be kept, by the label's name or by what the value looks like. */
export function isPersonal(label: string, value: string): boolean {
  return value !== '' && (PERSONAL.test(label) || TELLING.test(value))
}

function numbered(numberOf: (label: string, value: string) => number) {
  return (whole: string, before: string, quote: string, label: string, sign: string, value: string) =>
    isPersonal(label, value) ? `${before}${quote}${label}${quote}${sign}${numberOf(label, value)}"` : whole
}
