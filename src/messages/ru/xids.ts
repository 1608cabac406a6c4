import { type XidClass, xidClassOf } from '../../verdict/xid-class.ts'
import { capital } from './phrases.ts'

/** XIDs by number. Codes, causes and actions after the Xid catalogue at docs.nvidia.com/deploy/xid-errors. */
export const xidsRu: Readonly<Record<number, string>> = {
  8: 'GPU перестал считать. Перезапустите сервер.',
  13: 'CUDA-ядро обратилось по неверному адресу или выполнило неверную инструкцию, чаще виновата программа. Перезапустите сервер; если повторится, прогоните диагностику (dcgmi diag).',
  31: 'программа обратилась к чужой памяти GPU. Чаще всего баг сервера или библиотеки: перезапустите, запишите версию.',
  32: 'повреждён поток команд. Перезапустите сервер; если повторится, подозревайте PCIe или драйвер.',
  43: 'программа остановлена из-за собственной ошибки, GPU исправен. Перезапустите сервер.',
  45: 'очистка после другой ошибки или убитого процесса. Ищите предыдущий Xid в dmesg.',
  46: 'GPU перестал считать. Снимите с него нагрузку и сбросьте (nvidia-smi --gpu-reset).',
  48: 'ошибка памяти, которую ECC не исправил. Снимите нагрузку и сбросьте GPU; если повторится, замените карту.',
  61: 'внутренний контроллер GPU остановился. Снимите нагрузку и сбросьте GPU.',
  62: 'внутренний контроллер GPU завис. Снимите нагрузку и сбросьте GPU.',
  63: 'сбойная строка памяти помечена на замену запасной. Сбросьте GPU, когда он освободится; до тех пор можно работать.',
  64: 'заменить сбойную строку памяти не удалось. Снимите нагрузку и сбросьте GPU; если повторится, замените карту.',
  69: 'графический движок получил неверную команду. Перезапустите сервер.',
  74: 'ошибка NVLink. Серверы с тензорным параллелизмом на этом линке будут падать: выведите узел из работы, сбросьте его GPU, проверьте мосты и коммутаторы.',
  79: 'GPU отвалился от шины и недоступен. Выведите узел из работы и перезагрузите, лучше по питанию; проверьте питание, слот PCIe и нагрев.',
  92: 'много исправленных ошибок памяти. Пока ничего не потеряно: запланируйте проверку карты.',
  94: 'ошибка памяти задела одну программу. Перезапустите сервер; сбросьте GPU, когда он освободится.',
  95: 'ошибка памяти могла задеть все программы на GPU. Сначала остановите на нём всю работу и сбросьте его.',
  109: 'переключение между программами не уложилось в срок. Перезапустите сервер; если повторится, сбросьте GPU.',
  119: 'системный процессор GPU не отвечает драйверу. Снимите нагрузку и сбросьте GPU; если повторится, обновите драйвер.',
  120: 'сбой системного процессора GPU. Снимите нагрузку и сбросьте GPU; если повторится, обновите драйвер.',
  140: 'неисправимые ошибки ECC. Снимите нагрузку и сбросьте GPU.',
  154: 'драйвер просит восстановить GPU; чем именно (сброс или перезагрузка), сказано в dmesg.',
}

/** What its class asks for, as part of a sentence. */
const CLASSES: Record<XidClass, string> = {
  application: 'перезапустите приложение',
  reset: 'сбросьте GPU',
  reboot: 'перезагрузите хост',
  replace: 'замените карту',
}

/** `: reset the GPU`; nothing where the code is of no class. */
export function xidClass(code: number): string {
  const found = xidClassOf(code)
  return found === undefined ? '' : `: ${CLASSES[found]}`
}

/** What to do about an XID; where the table has none of that number, where to look it up. */
export function xidTodo(code: number): string {
  return xidsRu[code] ?? 'смотрите каталог Xid у NVIDIA и dmesg; если запросы падают, снимите нагрузку с GPU.'
}

/** The first sentence about an XID, without its full stop: what it means. */
export function xidMeaning(code: number): string | undefined {
  return xidsRu[code]?.split('. ')[0]?.replace(/\.$/, '')
}

/** What to do about it, where its meaning was said before. */
export function xidRemedy(code: number): string {
  const [, ...rest] = xidsRu[code]?.split('. ') ?? []
  return rest.length === 0 ? capital(xidTodo(code)) : rest.join('. ')
}
