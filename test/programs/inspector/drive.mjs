import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { drive } from '../../support/drive.mjs'

const entry = '@modelcontextprotocol/inspector/clients/launcher/build/index.js'
const cli = new URL(`node_modules/${entry}`, import.meta.url).pathname

await drive(async ({ url, headers, era }) => {
  const run = async (...args) => {
    const command = [
      ...[cli, '--cli', '--quiet', '--format', 'json', '--protocol-era', era],
      ...['--server-url', url, '--transport', 'http'],
      ...['--header', `Authorization: ${headers.Authorization}`, ...args],
    ]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command).catch(
      (failed) => failed,
    )
    const { result, error } = JSON.parse(stdout || stderr)
    if (error) throw new Error(error.message)
    return result
  }
  return {
    list: async () => (await run('--method', 'tools/list')).tools.map(({ name }) => name),
    call: (name, args) =>
      run(
        ...['--method', 'tools/call', '--tool-name', name],
        ...['--tool-args-json', JSON.stringify(args)],
      ),
    close: async () => {},
  }
})
