import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, until } from '../asking.ts'
import { installDebian } from '../debian.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

export interface Balancer {
  url: string
  program: Program
}

/** By turns over the servers behind it, and a look at each every second. */
export async function startHaproxy(servers: readonly { port: number }[]): Promise<Balancer> {
  installDebian('haproxy', 'haproxy')
  const port = await freePort()
  const file = join(folder('haproxy'), `${port}.cfg`)
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 60s',
    '  timeout server 60s',
    'listen engines',
    `  bind 127.0.0.1:${port}`,
    '  balance roundrobin',
    '  option httpchk GET /health',
    ...servers.map((server, index) => `  server s${index} 127.0.0.1:${server.port} check inter 1s fall 1 rise 1`),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return listening(port, start({ name: 'haproxy', command: 'haproxy', args: ['-f', file, '-db'] }))
}

/** In front of one server, as people put it there for certificates. */
export async function startNginx(server: { port: number }): Promise<Balancer> {
  installDebian('nginx-light', 'nginx')
  const port = await freePort()
  const home = folder('nginx', String(port))
  const file = join(home, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; pid ${home}/pid; error_log ${home}/error.log;
events {}
http {
  access_log ${home}/access.log;
  client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy; fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${server.port}; } }
}
`,
  )
  return listening(port, start({ name: 'nginx', command: 'nginx', args: ['-p', home, '-c', file] }))
}

async function listening(port: number, program: Program): Promise<Balancer> {
  const url = `http://127.0.0.1:${port}`
  await until('the balancer answers', async () => program.isOver() || (await ask(url)).status > 0)
  if (program.isOver()) throw new Error(program.log())
  return { url, program }
}
