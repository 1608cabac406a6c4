import type { CanaryRequest } from '../model/config.ts'
import { saysModelMissing } from './refusal.ts'

/** How one canary is worded; servers differ in what they take. */
export interface Form {
  route: 'chat' | 'plain'
  limit: 'max_tokens' | 'max_completion_tokens'
  temperature: boolean
}

/** The form that nearly every server takes; an address that names the plain route is taken at its word. */
export function firstForm(address: string): Form {
  const isPlain = /(?<!\/chat)\/completions\/*$/.test(new URL(address).pathname)
  return { route: isPlain ? 'plain' : 'chat', limit: 'max_tokens', temperature: true }
}

export function routeOf(form: Form): string {
  return form.route === 'chat' ? 'v1/chat/completions' : 'v1/completions'
}

export function toBody(
  form: Form,
  model: string,
  { tokens, prompt }: Pick<CanaryRequest, 'tokens' | 'prompt'>,
): Record<string, unknown> {
  return {
    model,
    ...(form.route === 'chat' ? { messages: [{ role: 'user', content: prompt }] } : { prompt }),
    [form.limit]: tokens,
    ...(form.temperature ? { temperature: 0 } : {}),
    stream: true,
  }
}

/**
 * The next form to try after a refusal, each step at most once: the other name of the limit, no temperature, the plain
 * completion instead of the chat.
 * @returns `undefined` when the refusal is about something else, or all has been tried.
 */
export function adapt(form: Form, status: number, body: string): Form | undefined {
  if (status === 400 || status === 422) {
    if (
      form.limit === 'max_tokens' &&
      /max_completion_tokens|max_tokens.{0,40}(not supported|unsupported)/is.test(body)
    ) {
      return { ...form, limit: 'max_completion_tokens' }
    }
    if (form.temperature && /temperature/i.test(body)) return { ...form, temperature: false }
  }
  return form.route === 'chat' && lacksChat(status, body) ? { ...form, route: 'plain', limit: 'max_tokens' } : undefined
}

/** A route that is not there (and not a model that is not there), or a model without a chat template. */
function lacksChat(status: number, body: string): boolean {
  if (status === 405 || status === 501) return true
  if (status === 404) return !saysModelMissing(body, body)
  return (
    status === 400 && /chat[\s_-]?template|not a chat model|(does ?n.t|does not|not) support.{0,20}chat/i.test(body)
  )
}
