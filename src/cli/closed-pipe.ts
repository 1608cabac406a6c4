/** As a shell counts a command that SIGPIPE ended. */
const ENDED_BY_READER = 141

/** A reader that has seen enough (`| head`) ends us as it ends any other command: without a stack trace. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(ENDED_BY_READER)
  })
}
