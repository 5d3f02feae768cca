import type { PolicyView } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Changes } from './changes.tsx'
import { Effective } from './effective.tsx'
import { FileRules, nearestFirst } from './file-rules.tsx'
import { NodeVersions } from './node-versions.tsx'
import { Problems } from './problems.tsx'
import type { GoTo } from './rule-table.tsx'

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
      <NodeVersions />
      {files.length === 1 && (
        <div className="mt-4">
          <Notice>
            <p className="font-medium">{text.shippedOnly}</p>
            <p className="mb-2">{text.shippedOnlyNext}</p>
            <Button onClick={toEdit}>{text.writeRules}</Button>
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
      {nearestFirst(files).map((file) => (
        <FileRules
          key={file.file}
          file={file}
          problems={problems.filter((problem) => problem.file === file.file)}
          words={words.trim()}
          go={go}
        />
      ))}
      <Effective />
      <Changes />
    </>
  )
}
