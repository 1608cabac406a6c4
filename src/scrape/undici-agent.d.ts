/** The Agent alone: the whole of undici doubles what its users carry. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}
