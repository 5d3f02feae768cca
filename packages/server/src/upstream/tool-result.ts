import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { UpstreamAnswer } from '../ports/upstream.ts'

export type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** By hand, as each call comes here: a schema would copy what it checks. */
const isAnswer = ({ content, isError }: Members): boolean =>
  (isError === undefined || typeof isError === 'boolean') &&
  (content === undefined ||
    (Array.isArray(content) &&
      content.every((block: unknown) => isMembers(block) && typeof block['type'] === 'string')))

/** The outcome of a tool; null for what has another form. */
export const answerIn = (result: unknown): UpstreamAnswer | null => {
  if (!isMembers(result) || !isAnswer(result)) return null
  return (result['content'] === undefined ? { ...result, content: [] } : result) as UpstreamAnswer
}

const withoutType = (result: Members): Members => {
  if (!('resultType' in result)) return result
  const { resultType: _, ...rest } = result
  return rest
}

const wrongKind = (resultType: unknown): SdkError =>
  new SdkError(
    typeof resultType === 'string'
      ? SdkErrorCode.UnsupportedResultType
      : SdkErrorCode.InvalidResult,
    'a result of another kind',
  )

/**
 * Result of `tools/call`: an answer, which has a member `task` where it stands for one as in 2025-11-25, or questions as
 * they came. Raises `SdkError` for what the era of the server does not have.
 */
export const readToolResult = (result: Members, isModern: boolean): Members => {
  const { resultType } = result
  if (isModern && resultType === 'input_required') return result
  const rest = withoutType(result)
  if (isModern && resultType === 'task') return { task: rest }
  if (isModern && resultType !== 'complete') throw wrongKind(resultType)
  const answer = answerIn(rest)
  if (answer === null) throw new SdkError(SdkErrorCode.InvalidResult, 'no result of a tool')
  return answer
}
