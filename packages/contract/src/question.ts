import { z } from 'zod'
import { AgentName, CapabilityName, QuestionId, Timestamp } from './ids.ts'
import { UpstreamName } from './upstream.ts'

/** A value that a question asks for. All texts are the server's own. */
export const QuestionField = z.object({
  name: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  /** `choices` is a list of them. */
  type: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
  required: z.boolean(),
  /** Answers to it are not kept in the log, and are taken out of what the server says. */
  secret: z.boolean(),
  /** Bounds and form, such as `1 to 20 characters`; null where there are none. */
  limits: z.string().nullable(),
  /** Taken where nothing is answered. */
  default: z.unknown().optional(),
  choices: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
})
export type QuestionField = z.infer<typeof QuestionField>

/** Something that an upstream server asks in the middle of a call. It is put to people, never to the agent. */
export const Question = z.object({
  id: QuestionId,
  upstream: UpstreamName,
  /** The agent whose call waits for the answer. */
  agent: AgentName,
  capability: CapabilityName,
  request_id: z.string(),
  /** Calls that the server runs besides: it does not say for which of them it asks. */
  other_calls: z.int().min(0),
  /** `url`: the server wants a person to open an address, and to say when that is done. */
  kind: z.enum(['form', 'url']),
  /** In the server's own words. */
  message: z.string(),
  fields: z.array(QuestionField),
  url: z.string().nullable(),
  asked_at: Timestamp,
  expires_at: Timestamp,
})
export type Question = z.infer<typeof Question>

export const QuestionList = z.object({ questions: z.array(Question) })
export type QuestionList = z.infer<typeof QuestionList>

/** `accept` gives the values, or says that the address was opened; `cancel` leaves it undecided. */
export const QuestionAction = z.enum(['accept', 'decline', 'cancel'])
export type QuestionAction = z.infer<typeof QuestionAction>

export const AnswerBody = z.strictObject({
  action: QuestionAction,
  /** By the names of the fields; of an accepted form alone. */
  values: z.record(z.string().max(256), z.unknown()).optional(),
})
export type AnswerBody = z.infer<typeof AnswerBody>

export const AnsweredQuestion = z.object({ question: Question, action: QuestionAction })
export type AnsweredQuestion = z.infer<typeof AnsweredQuestion>
