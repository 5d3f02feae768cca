import { useRead } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { type PolicyFileView, useDrafts } from './drafts.ts'
import { Edit } from './edit.tsx'
import { Replay } from './replay.tsx'
import { Rules } from './rules.tsx'
import { Simulate } from './simulate.tsx'

/** The layer that ships has a rule for each capability there is. */
const namesIn = (files: readonly PolicyFileView[]): readonly string[] =>
  files.find(({ layer }) => layer === 'system')?.active_rules.map(({ match }) => match) ?? []

export const PolicyPage = () => {
  const [{ tab, file }, , open] = useFilters({ tab: 'rules', file: '', line: '' })
  const drafts = Object.keys(useDrafts()).length
  const go = ({ agent }: PolicyFileView, line: number) =>
    open({ tab: 'edit', file: agent ?? '', line: String(line) })
  return (
    <Page title={text.title}>
      <Loaded query={useRead('showPolicies')}>
        {(view) => (
          <Tabs
            label={text.tabsLabel}
            value={tab}
            onChange={(next) => open({ tab: next, file })}
            tabs={[
              { value: 'rules', text: text.tabs.rules },
              { value: 'edit', text: text.tabs.edit, count: drafts },
              { value: 'simulate', text: text.tabs.simulate },
              { value: 'replay', text: text.tabs.replay },
            ]}
          >
            <TabPanel value="rules">
              <Rules view={view} go={go} toEdit={() => open({ tab: 'edit' })} />
            </TabPanel>
            <TabPanel value="edit">
              <Edit view={view} names={namesIn(view.files)} />
            </TabPanel>
            <TabPanel value="simulate">
              <Simulate names={namesIn(view.files)} />
            </TabPanel>
            <TabPanel value="replay">
              <Replay />
            </TabPanel>
          </Tabs>
        )}
      </Loaded>
    </Page>
  )
}
