import { asEvents, asJson, type Wire } from './wire.ts'

type Part = { readonly functionResponse?: { readonly response?: unknown } }
type Body = {
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly { readonly name: string }[]
  }[]
  readonly contents?: readonly { readonly parts?: readonly Part[] }[]
}

export const gemini: Wire = {
  path: /^\/v1(beta)?\/models\/[^/]+:(generateContent|streamGenerateContent|countTokens)$/,
  read(body, url) {
    const { tools = [], contents = [] } = body as Body
    const parts = contents.flatMap(({ parts: inner = [] }) => inner)
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse ? [JSON.stringify(functionResponse.response)] : [],
      ),
      isStream: url.pathname.endsWith('streamGenerateContent'),
    }
  },
  write(turn, { isStream }) {
    const part =
      'tool' in turn
        ? { functionCall: { name: turn.tool.name, args: turn.input } }
        : { text: turn.text }
    const content = { role: 'model', parts: [part] }
    const usage = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    const answer = {
      candidates: [{ content, finishReason: 'STOP', index: 0 }],
      usageMetadata: usage,
      totalTokens: 2,
    }
    return isStream ? asEvents([answer], { named: false }) : asJson(answer)
  },
}
