import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Asked, answerJson, readAsked } from '../../tools/simulator/asked-server.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import type { LanguageModel } from './llm.ts'

export const NAME = 'tiny:latest'

export interface Served extends Loopback {
  asked: readonly Asked[]
}

/** The model behind the routes that OpenAI-compatible servers and Ollama have. */
export async function serveModel(model: LanguageModel): Promise<Served> {
  const asked: Asked[] = []
  const listed = { name: NAME, model: NAME, size: 600_000, size_vram: 0, context_length: 2_048 }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readAsked(incoming)
    asked.push(request)
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/chat/completions':
        return chat(model, request, response)
      case 'GET /api/ps':
        return answerJson(response, 200, { models: model.loaded() ? [listed] : [] })
      case 'GET /api/tags':
        return answerJson(response, 200, { models: [listed] })
      case 'POST /api/generate':
        return generate(model, request, response)
      default:
        return answerJson(response, 404, { detail: 'Not Found' })
    }
  }

  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return { ...server, asked }
}

async function chat(model: LanguageModel, { body }: Asked, response: ServerResponse): Promise<void> {
  const send = (choice: object) => {
    const chunk = {
      object: 'chat.completion.chunk',
      model: NAME,
      choices: [{ index: 0, finish_reason: null, ...choice }],
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send({ delta: { role: 'assistant', content: '' } })
  const [message] = body.messages as { content: string }[]
  await model.generate(message?.content ?? '', Number(body.max_tokens), (content) => send({ delta: { content } }))
  send({ delta: {}, finish_reason: 'length' })
  response.end('data: [DONE]\n\n')
}

async function generate(model: LanguageModel, { body }: Asked, response: ServerResponse): Promise<void> {
  const { num_predict: limit } = body.options as { num_predict: number }
  const line = (part: object) => response.write(`${JSON.stringify({ model: NAME, ...part })}\n`)
  const { work } = await model.generate(String(body.prompt), limit, (text) => line({ response: text, done: false }))
  const nanoseconds = (ms: number) => Math.round(ms * 1e6)
  line({
    response: '',
    done: true,
    done_reason: 'length',
    total_duration: nanoseconds(work.load + work.prefill + work.decode),
    load_duration: nanoseconds(work.load),
    prompt_eval_count: work.promptTokens,
    prompt_eval_duration: nanoseconds(work.prefill),
    eval_count: work.tokens,
    eval_duration: nanoseconds(work.decode),
  })
  response.end()
}
