import type { ActiveRule, PolicyProblem, PolicyView } from '@gatehouse/contract'
import { type ReactNode, useState } from 'react'
import { policyText as text } from '../../messages/policy.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { PolicyFileView } from './drafts.ts'
import { Effective } from './effective.tsx'
import { Problems } from './problems.tsx'
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

const FileRules = ({
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

const nearestFirst = ['agent', 'organisation', 'system']

/** The layers as they are asked, the nearest first, and what comes of them. */
export const Rules = ({
  view,
  go,
  toEdit,
}: {
  readonly view: PolicyView
  readonly go: GoTo
  readonly toEdit: () => void
}) => {
  const [{ words }, change] = useFilters({ words: '' })
  const { version, files, problems, rules, tests_passed } = view
  const sorted = files.toSorted(
    (a, b) => nearestFirst.indexOf(a.layer) - nearestFirst.indexOf(b.layer),
  )
  return (
    <>
      <Facts
        items={[
          [
            text.version,
            <span key="version" className="mono">
              {version}
            </span>,
          ],
          [text.ownRules, numberText(rules)],
          [text.testsPassed, numberText(tests_passed)],
        ]}
      />
      {files.length === 1 && (
        <div className="mt-4">
          <Notice>
            <p className="font-medium">{text.shippedOnly}</p>
            <p className="mb-2">{text.shippedOnlyNext}</p>
            <Button onClick={toEdit}>{text.tabs.edit}</Button>
          </Notice>
        </div>
      )}
      {problems.length > 0 && (
        <Section title={text.problems}>
          <Problems
            problems={problems}
            placeOf={({ file, line, column }) => text.at(file, line, column)}
            wayTo={({ file: name, line }) => {
              const file = files.find((one) => one.file === name)
              return file && (() => go(file, line))
            }}
          />
        </Section>
      )}
      <p className="mt-4 max-w-prose text-ink-soft">{text.order}</p>
      <TextField
        label={text.filter}
        hint={text.filterHint}
        type="search"
        className="mt-3 max-w-md"
        value={words}
        onChange={({ target }) => change({ words: target.value })}
      />
      {sorted.map((file) => (
        <FileRules
          key={file.file}
          file={file}
          problems={problems.filter((problem) => problem.file === file.file)}
          words={words.trim()}
          go={go}
        />
      ))}
      <Effective />
    </>
  )
}
