/**
 * Puts a path below a base address and keeps the base's own path, query and port:
 * `http://h/ollama` and `api/ps` give `http://h/ollama/api/ps`. `new URL(path, base)` would drop `/ollama`.
 */
export function below(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url.href
}

/** Where an OpenAI-compatible server's routes begin: its address without `/v1` and without a route that was pasted along. */
export function openaiBase(address: string): string {
  const url = new URL(address)
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/(\/v1)?(\/chat\/completions|\/completions|\/models)?$/, '')
  return url.href
}

/**
 * A model's whole name, so that two spellings of it are equal: `mistral` is `mistral:latest`, and Ollama leaves out
 * its own registry and the `library` namespace, and finds a name in whatever letter case. The tag is what follows a
 * colon after the last slash.
 */
export function wholeModelName(name: string): string {
  const short = name
    .toLowerCase()
    .replace(/^registry\.ollama\.ai\//, '')
    .replace(/^library\//, '')
  return short.slice(short.lastIndexOf('/') + 1).includes(':') ? short : `${short}:latest`
}
