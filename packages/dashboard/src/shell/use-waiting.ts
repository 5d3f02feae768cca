import type { Approval, Question } from '@gatehouse/contract'
import { useRead } from '../api.ts'

/** Requests and questions that wait for a person. Every place that counts it counts the same. */
export function useWaiting(): {
  readonly requests: readonly Approval[] | undefined
  readonly questions: readonly Question[] | undefined
  readonly count: number
} {
  const requests = useRead('listApprovals').data
  const questions = useRead('listQuestions').data?.questions
  const count = (requests?.total ?? 0) + (questions?.length ?? 0)
  return { requests: requests?.approvals, questions, count }
}
