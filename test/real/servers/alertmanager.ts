import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answers } from '../answers.ts'
import { ask } from '../asking.ts'
import { installDebian } from '../debian.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

export interface Alertmanager {
  url: string
  program: Program
  /** Names of the alerts that it holds as firing now. */
  firing(): Promise<string[]>
}

export async function startAlertmanager(): Promise<Alertmanager> {
  installDebian('prometheus-alertmanager', 'prometheus-alertmanager')
  const port = await freePort()
  const home = folder('alertmanager', String(port))
  const file = join(home, 'alertmanager.yml')
  writeFileSync(file, 'route: { receiver: none }\nreceivers: [{ name: none }]\n')
  const program = start({
    name: 'alertmanager',
    command: 'prometheus-alertmanager',
    args: [
      ...[`--config.file=${file}`, `--storage.path=${home}`, `--web.listen-address=127.0.0.1:${port}`],
      '--cluster.listen-address=',
    ],
  })
  const url = `http://127.0.0.1:${port}`
  await answers('Alertmanager', program, `${url}/-/ready`)
  return {
    url,
    program,
    async firing() {
      const { text } = await ask(`${url}/api/v2/alerts?active=true`)
      const alerts = JSON.parse(text) as { labels: { alertname: string }; status: { state: string } }[]
      return alerts.filter(({ status }) => status.state === 'active').map(({ labels }) => labels.alertname)
    },
  }
}
