/** Files by which a coding agent, its hooks or its servers are configured. */
const files =
  /(^|\/)(\.mcp\.json|\.claude\/(settings(\.local)?\.json|hooks\/.*)|\.codex\/.*|\.gemini\/settings\.json|\.cursor\/(mcp|hooks)\.json|\.vscode\/(mcp|settings)\.json|\.github\/hooks\/.*|\.copilot\/.*)$/i

/** @SECURITY Who may write these may take the hook away that asks; client-tools.test.ts, "its own leash". */
export const configuresClient = (path: string): boolean => files.test(path.normalize('NFKC'))
