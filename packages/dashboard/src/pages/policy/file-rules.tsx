import type { ActiveRule, PolicyProblem } from '@gatehouse/contract'
import { type ReactNode, useState } from 'react'
import { policyText as text } from '../../messages/policy.ts'
import { Code } from '../../ui/code.tsx'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Section } from '../../ui/page.tsx'
import type { PolicyFileView } from './drafts.ts'
import { type GoTo, type RuleRow, RuleTable } from './rule-table.tsx'

const fits = ({ match, when, reason }: ActiveRule, words: string): boolean => {
  const all = `${match} ${when ?? ''} ${reason ?? ''}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

const titleOf = ({ layer, agent }: PolicyFileView): string => {
  if (layer === 'system') return text.layer.system
  return agent === null ? text.layer.organisation : text.layer.agent(agent)
}

/** Fold whose content is made when somebody opens it. */
const Fold = ({
  summary,
  children,
}: {
  readonly summary: string
  readonly children: ReactNode
}) => {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="min-h-11 py-2 sm:min-h-9">{summary}</summary>
      {open && children}
    </details>
  )
}

/** Longer lists are opened by the person. */
const shownMax = 100

/** Rules of one file as a list and as it is written, with what was found about them. */
export const FileRules = ({
  file,
  problems,
  words,
  go,
}: {
  readonly file: PolicyFileView
  readonly problems: readonly PolicyProblem[]
  readonly words: string
  readonly go: GoTo
}) => {
  const isOld = problems.some(({ severity }) => severity === 'error')
  const rows = file.active_rules.flatMap((rule, at): RuleRow[] =>
    fits(rule, words)
      ? [
          {
            at,
            rule,
            file,
            warnings: isOld ? [] : problems.filter(({ line }) => line === rule.line),
          },
        ]
      : [],
  )
  const table = <RuleTable caption={text.rulesOf(file.file)} rows={rows} go={go} />
  const isLong = words === '' && (file.layer === 'system' || rows.length > shownMax)
  return (
    <Section title={`${titleOf(file)} · ${file.file}`}>
      <div className="grid grid-cols-1 gap-2">
        {isOld && <Notice tone="bad">{text.oldVersion}</Notice>}
        {rows.length === 0 && (
          <p className="text-ink-soft">{words === '' ? text.noRules : text.noneFit}</p>
        )}
        {rows.length > 0 &&
          (isLong ? (
            <Fold summary={`${text.rulesOf(file.file)} (${numberText(rows.length)})`}>{table}</Fold>
          ) : (
            table
          ))}
        <Fold summary={text.textOf(file.file)}>
          <Code text={file.text} label={text.textOf(file.file)} tall />
        </Fold>
      </div>
    </Section>
  )
}

const order = ['agent', 'organisation', 'system']

/** The files as they are asked about a call. */
export const nearestFirst = (files: readonly PolicyFileView[]): readonly PolicyFileView[] =>
  files.toSorted((a, b) => order.indexOf(a.layer) - order.indexOf(b.layer))
