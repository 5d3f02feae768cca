import { useRead } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Edit } from './edit.tsx'
import { Files } from './files.tsx'
import { Replay } from './replay.tsx'
import { Simulate } from './simulate.tsx'

export const PolicyPage = () => {
  const [{ tab }, change] = useFilters({ tab: 'files' })
  const policies = useRead('showPolicies')
  return (
    <Page
      title={text.title}
      aside={
        policies.data && (
          <span className="mono text-ink-soft [overflow-wrap:anywhere]">
            {text.version(policies.data.version)}
          </span>
        )
      }
    >
      <Tabs
        label={text.tabsLabel}
        value={tab}
        onChange={(next) => change({ tab: next })}
        tabs={Object.entries(text.tabs).map(([value, label]) => ({ value, text: label }))}
      >
        <Loaded query={policies}>
          {(view) => (
            <>
              <TabPanel value="files">
                <Files view={view} />
              </TabPanel>
              <TabPanel value="edit">
                <Edit view={view} />
              </TabPanel>
            </>
          )}
        </Loaded>
        <TabPanel value="simulate">
          <Simulate />
        </TabPanel>
        <TabPanel value="replay">
          <Replay />
        </TabPanel>
      </Tabs>
    </Page>
  )
}
