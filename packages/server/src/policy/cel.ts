import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import type { Condition, PathForm, PolicyQuestion } from '../domain/policy/types.ts'
import { hostIn } from '../domain/web-address.ts'
import { compileFast, type FastCondition, failed, slow } from './cel-fast.ts'
import { type Inspected, inspectExpression } from './cel-inspect.ts'
import { assertAffordable, type Shape } from './condition-budget.ts'
import { LinearPattern, refillPatternBudget } from './linear-pattern.ts'
import { TimeZone, zonedFields } from './zoned-time.ts'

// The only file that knows the library. JSON numbers stay what they are, CEL doubles: the library
// compares them with ints, and the operators below let them be added to ints as a reader expects.

class AgentView {
  readonly name: string
  readonly purpose: string
  readonly status: string
  constructor(agent: PolicyQuestion['agent']) {
    this.name = agent.name
    this.purpose = agent.purpose
    this.status = agent.status
  }
}

class SessionView {
  readonly id: string
  readonly transport: string
  readonly client: string
  constructor(session: PolicyQuestion['session']) {
    this.id = session.id
    this.transport = session.transport
    this.client = session.client
  }
}

/** The variables of a condition, made only when one is read. */
class Variables {
  readonly #question: PolicyQuestion
  constructor(question: PolicyQuestion) {
    this.#question = question
  }
  get args(): unknown {
    return this.#question.args
  }
  get agent(): AgentView {
    return new AgentView(this.#question.agent)
  }
  get session(): SessionView {
    return new SessionView(this.#question.session)
  }
  get host(): string {
    return hostIn(this.#question.args)
  }
  get now(): Date {
    return new Date(this.#question.nowMs)
  }
}

type Numeric = number | bigint

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

const createEnvironment = (): Environment => {
  const text = { name: 'string', purpose: 'string', status: 'string' }
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 1_000, maxMapEntries: 100 },
  })
    .registerType('Agent', { ctor: AgentView, fields: text })
    .registerType('Session', {
      ctor: SessionView,
      fields: { id: 'string', transport: 'string', client: 'string' },
    })
    .registerType('Pattern', { ctor: LinearPattern, fields: {} })
    .registerType('TimeZone', { ctor: TimeZone, fields: {} })
    .registerVariable('args', 'map')
    .registerVariable('agent', 'Agent')
    .registerVariable('session', 'Session')
    .registerVariable('host', 'string')
    .registerVariable('now', 'google.protobuf.Timestamp')
    .registerFunction(
      'string.matches(Pattern): bool',
      (value: string, pattern: LinearPattern) => pattern.test(value),
      { async: false },
    )
  for (const field of zonedFields) {
    environment.registerFunction(
      `google.protobuf.Timestamp.${field}(TimeZone): int`,
      (at: Date, zone: TimeZone) => BigInt(zone.read(at)[field]),
      { async: false },
    )
  }
  for (const [operator, apply] of Object.entries(arithmetic)) {
    const handler = (a: Numeric, b: Numeric) => apply(Number(a), Number(b))
    environment.registerOperator(`int ${operator} double: double`, handler)
    environment.registerOperator(`double ${operator} int: double`, handler)
  }
  environment.registerOperator('double % double: double', (a: number, b: number) => a % b)
  return environment
}

const environment = createEnvironment()

/** Problem of a condition; `offset` counts UTF-16 units from its start. */
export type ConditionProblem = { readonly message: string; readonly offset: number }

export type CompiledCondition =
  | { readonly kind: 'ok'; readonly condition: Condition }
  | { readonly kind: 'problem'; readonly problem: ConditionProblem }

const sourceMax = 4096

const problem = (message: string, offset: number): CompiledCondition => ({
  kind: 'problem',
  problem: { message, offset },
})

const problemOf = (error: unknown): CompiledCondition => {
  const { summary, message, range } = error as Partial<{
    summary: string
    message: string
    range: { start: number }
  }>
  return problem(summary ?? message ?? String(error), range?.start ?? 0)
}

/** Thrown where the quick evaluation fails; `explain` has the particulars. One, since throwing is hot. */
const unusable: Error = Object.freeze(
  new Error('a value that it reads is missing or of another type'),
)

class CelCondition implements Condition {
  readonly source: string
  readonly readsArguments: boolean
  readonly reads: ReadonlySet<string> | null
  readonly texts: readonly string[]
  readonly #run: (variables: Variables) => unknown
  readonly #fast: FastCondition | null
  readonly #shape: Shape
  readonly #pathForm: PathForm | null

  constructor(
    source: string,
    inspected: Extract<Inspected, { kind: 'ok' }>,
    run: (variables: Variables) => unknown,
    fast: FastCondition | null,
  ) {
    const { readsArguments, reads, texts, pathForm, shape } = inspected
    this.source = source
    this.readsArguments = readsArguments
    this.reads = reads
    this.texts = texts
    this.#run = run
    this.#fast = fast
    this.#shape = shape
    this.#pathForm = readsArguments ? pathForm : null
  }

  #seen(question: PolicyQuestion): PolicyQuestion {
    return this.#pathForm && question.as ? question.as(this.#pathForm) : question
  }

  evaluate(asked: PolicyQuestion): boolean {
    refillPatternBudget()
    const question = this.#seen(asked)
    if (this.#fast) {
      const quick = this.#fast(question)
      if (quick === failed) throw unusable
      if (quick !== slow) return quick
    }
    return this.evaluateFully(question)
  }

  explain(question: PolicyQuestion): string | null {
    try {
      refillPatternBudget()
      this.evaluateFully(this.#seen(question))
      return null
    } catch (cause) {
      const { summary, message } = cause as { summary?: string; message?: string }
      return summary ?? message ?? String(cause)
    }
  }

  /** By the library alone. The tests hold the quick evaluation against it. */
  evaluateFully(question: PolicyQuestion): boolean {
    assertAffordable(this.#shape, question.args)
    const result = this.#run(new Variables(question))
    if (typeof result !== 'boolean') throw new Error('the condition gave no true or false')
    return result
  }
}

/** Parses and checks a condition: its syntax, its variables and, where they are known, its types. */
export const compileCondition = (source: string): CompiledCondition => {
  if (source.length > sourceMax) {
    return problem(`a condition has at most ${sourceMax} characters`, sourceMax)
  }
  try {
    const expression = environment.parse(source)
    const inspected = inspectExpression(expression.ast as ASTNode)
    if (inspected.kind === 'problem') return inspected
    const checked = expression.check()
    if (!checked.valid) return problemOf(checked.error)
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return problem(`a condition must be true or false, not ${checked.type}`, 0)
    }
    const run = (variables: Variables): unknown => expression(variables)
    const fast = compileFast(expression.ast)
    return { kind: 'ok', condition: new CelCondition(source, inspected, run, fast) }
  } catch (error) {
    return problemOf(error)
  }
}
