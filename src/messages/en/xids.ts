import { type XidClass, xidClassOf } from '../../verdict/xid-class.ts'
import { capital } from './phrases.ts'

/** XIDs by number. Codes, causes and actions after the Xid catalogue at docs.nvidia.com/deploy/xid-errors. */
export const xidsEn: Readonly<Record<number, string>> = {
  8: 'the GPU stopped processing. Restart the server.',
  13: "a CUDA kernel used a bad address or instruction, mostly the program's fault. Restart the server; if it returns, run GPU diagnostics (dcgmi diag).",
  31: 'page fault: a program touched GPU memory it does not own. Mostly a bug in the server or a library: restart it, note the version.',
  32: 'broken command stream. Restart the server; if it returns, suspect the PCIe link or the driver.',
  43: 'the program was stopped after its own fault, the GPU is fine. Restart the server.',
  45: 'cleanup after another error or a killed process. Look for the Xid before it in dmesg.',
  46: 'the GPU stopped processing. Drain it and reset it (nvidia-smi --gpu-reset).',
  48: 'memory error that ECC could not correct. Drain the GPU and reset it; if it returns, replace the card.',
  61: 'internal controller of the GPU stopped. Drain it and reset it.',
  62: 'internal controller of the GPU halted. Drain it and reset it.',
  63: 'a bad memory row is marked to be replaced by a spare one. Reset the GPU when it is free; inference may go on until then.',
  64: 'replacing a bad memory row failed. Drain the GPU and reset it; if it returns, replace the card.',
  69: 'the graphics engine was given a wrong command. Restart the server.',
  74: 'NVLink error. Tensor-parallel servers on this link will fail: drain the node, reset its GPUs, check bridges or switches.',
  79: 'the GPU has fallen off the bus and is unreachable. Drain the node and reboot or power-cycle it; check power, PCIe seat and heat.',
  92: 'many corrected memory errors. Nothing is lost yet: plan a check of the card.',
  94: 'memory error that hit one program only. Restart the server; reset the GPU when it is free.',
  95: 'memory error that may have hit every program on the GPU. Stop all work on it and reset it before anything else.',
  109: 'switching between programs timed out. Restart the server; reset the GPU if it returns.',
  119: 'the GPU system processor does not answer the driver. Drain the GPU and reset it; if it returns, update the driver.',
  120: 'the GPU system processor failed. Drain the GPU and reset it; if it returns, update the driver.',
  140: 'ECC errors that could not be recovered. Drain the GPU and reset it.',
  154: 'the driver asks for a recovery action; dmesg names it (reset or reboot).',
}

/** What its class asks for, as part of a sentence. */
const CLASSES: Record<XidClass, string> = {
  application: 'restart the application',
  reset: 'reset the GPU',
  reboot: 'reboot the host',
  replace: 'replace the card',
}

/** `: reset the GPU`; nothing where the code is of no class. */
export function xidClass(code: number): string {
  const found = xidClassOf(code)
  return found === undefined ? '' : `: ${CLASSES[found]}`
}

/** What to do about an XID; where the table has none of that number, where to look it up. */
export function xidTodo(code: number): string {
  return xidsEn[code] ?? 'see the Xid catalogue of NVIDIA and dmesg; drain the GPU if requests fail.'
}

/** The first sentence about an XID, without its full stop: what it means. */
export function xidMeaning(code: number): string | undefined {
  return xidsEn[code]?.split('. ')[0]?.replace(/\.$/, '')
}

/** What to do about it, where its meaning was said before. */
export function xidRemedy(code: number): string {
  const [, ...rest] = xidsEn[code]?.split('. ') ?? []
  return rest.length === 0 ? capital(xidTodo(code)) : rest.join('. ')
}
