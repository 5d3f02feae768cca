import { spawn } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** The script of an installed tool, so that it starts the same way on every system. */
export const tool = (file) => [process.execPath, path.join(root, 'node_modules', file)]

export const tools = {
  biome: tool('@biomejs/biome/bin/biome'),
  knip: tool('knip/bin/knip.js'),
  oxlint: tool('oxlint/bin/oxlint'),
  tsc: tool('typescript/bin/tsc'),
  vite: tool('vite/bin/vite.js'),
  vitest: tool('vitest/vitest.mjs'),
}

/** npm, by the very script that started us where npm did. */
export const npm = process.env.npm_execpath?.endsWith('.js')
  ? [process.execPath, process.env.npm_execpath]
  : [process.platform === 'win32' ? 'npm.cmd' : 'npm']

/**
 * Runs a command in the root and resolves with its exit code, whatever it is. `output` is what it
 * printed when `capture` is set; otherwise that goes to our own streams.
 *
 * @param {string[]} command
 * @param {{ capture?: boolean, timeoutMs?: number } & import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export const run = ([command, ...args], { capture = false, timeoutMs, ...options } = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      ...(timeoutMs ? { timeout: timeoutMs } : {}),
      ...options,
    })
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }))
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}ended by ${signal}\n` : output }),
    )
  })
