/** The data of one server-sent event, or a comment: many servers and gateways send `: keep-alive` while a request waits. */
export type StreamEvent = { data: string } | { comment: string }

/**
 * Server-sent events out of lines: https://html.spec.whatwg.org/multipage/server-sent-events.html
 * Lenient in two ways, as servers are: an event that the end of the stream cuts short of its blank line counts, and a
 * line that begins with `{` is taken for a body that was not streamed, given whole as its data.
 */
export async function* events(lines: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let data: string[] = []
  let plain = ''
  for await (const line of lines) {
    if (plain !== '' || (data.length === 0 && line.trimStart().startsWith('{'))) {
      plain += `${line}\n`
    } else if (line === '') {
      if (data.length > 0) yield { data: data.join('\n') }
      data = []
    } else if (line.startsWith(':')) {
      yield { comment: line.slice(1).trim() }
    } else if (line.startsWith('data:')) {
      data.push(line.slice('data:'.length).replace(/^ /, ''))
    }
  }
  if (data.length > 0) yield { data: data.join('\n') }
  if (plain !== '') yield { data: plain }
}

/** What one event of a completion stream says. */
export type Said =
  | { kind: 'token' } // a part of the answer, of its reasoning or of a tool call
  | { kind: 'finished' } // the answer is at its end, its last token perhaps without text
  | { kind: 'frame' } // a role, a usage report, an empty part
  | { kind: 'done' } // [DONE]
  | { kind: 'error'; text: string }
  | { kind: 'unreadable' }

/** Reads one event's data; the same for chat and for plain completions. */
export function readEvent(data: string): Said {
  if (data.trim() === '[DONE]') return { kind: 'done' }
  const value = parse(data)
  if (!isRecord(value)) return { kind: 'unreadable' }
  if (value.error !== undefined && value.error !== null) return { kind: 'error', text: data }
  // vLLM and SGLang put an error's fields at the top in some versions.
  if (value.object === 'error') return { kind: 'error', text: data }
  if (!Array.isArray(value.choices)) return { kind: 'unreadable' }
  const choices = value.choices.filter(isRecord)
  if (choices.some(hasToken)) return { kind: 'token' }
  return choices.some((choice) => typeof choice.finish_reason === 'string') ? { kind: 'finished' } : { kind: 'frame' }
}

const TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'text'] as const

function hasToken(choice: Record<string, unknown>): boolean {
  const places = [choice, choice.delta, choice.message].filter(isRecord)
  return places.some(
    (place) =>
      TEXTS.some((name) => typeof place[name] === 'string' && place[name] !== '') ||
      (Array.isArray(place.tool_calls) && place.tool_calls.length > 0),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
