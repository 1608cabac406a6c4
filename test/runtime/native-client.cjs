// The three calls of the client's native addon. `done` and `error` return at once there; here they are sent before the
// next invocation is asked for.
const http = require('node:http')

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':')
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
let sent = Promise.resolve()

function ask(method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path: `/2018-06-01/runtime/invocation/${path}`, method, headers, agent }
    const request = http.request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ bodyJson: text, headers: response.headers }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

const json = { 'content-type': 'application/json' }
module.exports = {
  async next() {
    await sent
    return ask('GET', 'next')
  },
  done(id, body) {
    sent = ask('POST', `${id}/response`, body, json)
  },
  error(id, body) {
    sent = ask('POST', `${id}/error`, body, json)
  },
}
