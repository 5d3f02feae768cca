import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { foreignProgram } from '@gatehouse/testkit/programs'
import type { Step } from './model-wires/wire.ts'
import type { ScriptedModel } from './scripted-model.ts'
import { trustCodexHooks } from './trust-codex-hooks.ts'

/** A coding agent as its makers ship it, with the model that it is given in place of its own. */
export type CodingAgent = {
  readonly name: string
  /** As `gatehouse connect` has it. */
  readonly client: string
  /** False where the test set-up could not get it. */
  readonly isHere: boolean
  /** What is in its home before anything is connected, by path. */
  readonly settings: Readonly<Record<string, string>>
  /** The line that answers one prompt, and ends. */
  readonly command: (model: ScriptedModel, prompt: string, home: string) => readonly string[]
  readonly env: (model: ScriptedModel) => Readonly<Record<string, string>>
  /** A line for its own shell. */
  readonly shell: (line: string) => Step
  /** A file made by its own tool for that. */
  readonly write: (path: string, text: string) => Step
  /** What the gate calls the use of that tool. */
  readonly writing: string
  /** What a person does once, so that it knows its model and runs its hooks. */
  readonly prepare?: (home: string) => Promise<void>
}

const claudeCode = foreignProgram('claude-code')
const codex = foreignProgram('codex')
const gemini = foreignProgram('gemini-cli')
const platform = `${process.platform}-${process.arch}`
const triple = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`

/**
 * The catalog of Codex with one model, which takes its tools as the catalog's own models do that know no code mode:
 * a model that no catalog has is not offered the tool that writes files.
 */
const modelForCodex = (home: string): void => {
  const listed = execFileSync(codexProgram, ['debug', 'models'], {
    env: envIn(home),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [model] = (JSON.parse(listed) as { models: object[] }).models
  const scripted = {
    ...{ ...model, slug: 'scripted', base_instructions: 'Follow the script.', tool_mode: null },
    ...{ apply_patch_tool_type: 'freeform', experimental_supported_tools: [] },
    ...{ supports_search_tool: false, use_responses_lite: false, model_messages: null },
  }
  writeFileSync(join(home, '.codex/models.json'), JSON.stringify({ models: [scripted] }))
}

const codexProgram = codex?.file(`@openai/codex-${platform}/vendor/${triple}/bin/codex`) ?? ''

/** Nothing of this process's environment, and no way to the network. */
const envIn = (home: string): Readonly<Record<string, string>> => {
  const nowhere = 'http://127.0.0.1:9'
  return {
    ...{ HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' },
  }
}

export const codingAgents: readonly CodingAgent[] = [
  {
    name: 'Claude Code',
    client: 'claude-code',
    isHere: claudeCode !== null,
    settings: {},
    command: (_model, prompt) => [
      claudeCode?.file(`@anthropic-ai/claude-code-${platform}/claude`) ?? '',
      ...['-p', prompt, '--output-format', 'json', '--allowedTools', 'mcp__gatehouse', 'Write'],
      // What a person approved at the gate is not asked about again: cp is not among these.
      ...['touch', 'mkdir', 'rm'].map((name) => `Bash(${name} *)`),
    ],
    env: ({ url }) => ({
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'scripted', ENABLE_TOOL_SEARCH: 'false' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
      // Else it begins without the gate's tools where they take their time.
      CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '120000',
    }),
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'a line' } }),
    write: (file_path, content) => ({ tool: 'Write', input: { file_path, content } }),
    writing: 'client.write',
  },
  {
    name: 'Codex',
    client: 'codex',
    isHere: codex !== null,
    settings: { '.codex/config.toml': 'check_for_update_on_startup = false\n' },
    command: ({ url }, prompt, home) => {
      const provider = `name="scripted",base_url="${url}/v1",wire_api="responses",env_key="MODEL_KEY"`
      return [
        codexProgram,
        ...['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'],
        ...['-c', 'model="scripted"', '-c', `model_catalog_json="${home}/.codex/models.json"`],
        ...['-c', 'model_provider="scripted"', '-c', `model_providers.scripted={${provider}}`],
        // Else it refuses by itself, unattended, what is not read-only.
        ...['-c', 'mcp_servers.gatehouse.default_tools_approval_mode="approve"'],
        // Else it begins without the gate's tools where they take their time.
        ...['-c', 'mcp_servers.gatehouse.startup_timeout_sec=120'],
        prompt,
      ]
    },
    env: () => ({ MODEL_KEY: 'scripted' }),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    write: (path, text) => ({
      tool: 'apply_patch',
      input: { input: `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch` },
    }),
    writing: 'client.patch',
    prepare: (home) => {
      modelForCodex(home)
      return trustCodexHooks(codexProgram, { cwd: join(home, 'work'), env: envIn(home) })
    },
  },
  {
    name: 'Gemini CLI',
    client: 'gemini',
    isHere: gemini !== null,
    settings: {
      '.gemini/settings.json': JSON.stringify({
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
    },
    command: (_model, prompt) => [
      ...[gemini?.node ?? '', gemini?.file('@google/gemini-cli/bundle/gemini.js') ?? ''],
      // A model by name: else it first asks one which to take.
      ...['-m', 'gemini-2.5-flash', '-p', prompt, '--approval-mode', 'yolo', '--skip-trust'],
    ],
    env: ({ url }) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'scripted' }),
    shell: (command) => ({ tool: 'run_shell_command', input: { command } }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    writing: 'client.write',
  },
]

/** Makes the home of an agent that has run before. */
export const settle = (agent: CodingAgent, home: string): void => {
  mkdirSync(join(home, 'work'), { recursive: true })
  for (const [path, text] of Object.entries(agent.settings)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
}

/** Runs an agent on one prompt. */
export const runCodingAgent = async (
  agent: CodingAgent,
  { home, model, prompt = 'go' }: { home: string; model: ScriptedModel; prompt?: string },
): Promise<{ readonly code: number | null; readonly output: string }> => {
  const [program = '', ...args] = agent.command(model, prompt, home)
  const child = spawn(program, args, {
    cwd: join(home, 'work'),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
    killSignal: 'SIGKILL',
    env: { ...envIn(home), ...agent.env(model) },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  await once(child, 'close')
  return { code: child.exitCode, output }
}
