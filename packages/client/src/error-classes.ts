// Made by `npm run generate` from packages/contract/src/errors.ts.
import { GatehouseError, LimitError, UnknownNameError } from './gatehouse-error.ts'

/** Agent {agent} was changed by somebody else; it is at version {version} now. */
export class AgentChanged extends GatehouseError<'AgentChanged'> {}
/** There is already an agent {agent}. */
export class AgentExists extends GatehouseError<'AgentExists'> {}
/** There is no agent {agent}. */
export class AgentNotFound extends GatehouseError<'AgentNotFound'> {}
/** Agent {agent} is paused by an operator. */
export class AgentPaused extends GatehouseError<'AgentPaused'> {}
/** Agent {agent} is {status}: {detail} */
export class AgentStateConflict extends GatehouseError<'AgentStateConflict'> {}
/** There is no alert {alert_id}. */
export class AlertNotFound extends GatehouseError<'AlertNotFound'> {}
/** There is already something at {path}. */
export class AlreadyExists extends GatehouseError<'AlreadyExists'> {}
/** {holder} already uses the data in {data_dir}. */
export class AlreadyRunning extends GatehouseError<'AlreadyRunning'> {}
/** The answer to {question_id} is refused: {detail} */
export class AnswerRefused extends GatehouseError<'AnswerRefused'> {}
/** The request {approval_id} was cancelled{detail}. */
export class ApprovalCancelled extends GatehouseError<'ApprovalCancelled'> {}
/** The digest sent is not the digest of {approval_id}: what you saw is not what would run. */
export class ApprovalDigestMismatch extends GatehouseError<'ApprovalDigestMismatch'> {}
/** Nobody decided on {approval_id} in time. */
export class ApprovalExpired extends GatehouseError<'ApprovalExpired'> {}
/** There is no approval {approval_id}. */
export class ApprovalNotFound extends GatehouseError<'ApprovalNotFound'> {}
/** Approval {approval_id} is already {status}. */
export class ApprovalNotPending extends GatehouseError<'ApprovalNotPending'> {}
/** The request was rejected: {reason} */
export class ApprovalRejected extends GatehouseError<'ApprovalRejected'> {}
/** The request {approval_id} is stale: {detail} */
export class ApprovalStale extends GatehouseError<'ApprovalStale'> {}
/** Entry {id} of the audit log is not what was written: {detail} */
export class AuditDamaged extends GatehouseError<'AuditDamaged'> {}
/** The audit log cannot be written, so nothing runs: {detail} */
export class AuditUnavailable extends GatehouseError<'AuditUnavailable'> {}
/** Authentication failed: {detail} */
export class AuthenticationFailed extends GatehouseError<'AuthenticationFailed'> {}
/** The backup cannot be used: {detail} */
export class BackupRefused extends GatehouseError<'BackupRefused'> {}
/** The body has more than {limit_bytes} bytes. */
export class BodyTooLarge extends GatehouseError<'BodyTooLarge'> {}
/** There is no calendar {calendar}. */
export class CalendarNotFound extends GatehouseError<'CalendarNotFound'> {}
/** This cannot be done with calendars: {detail} */
export class CalendarRefused extends GatehouseError<'CalendarRefused'> {}
/** The call was cancelled. */
export class Cancelled extends GatehouseError<'Cancelled'> {}
/** The catalog cannot be fetched: {detail} */
export class CatalogUnavailable extends GatehouseError<'CatalogUnavailable'> {}
/** {detail} */
export class Conflict extends GatehouseError<'Conflict'> {}
/** The data in {data_dir} was written by Gatehouse {written_by}, in a form that this older version does not know. Nothing was changed. */
export class DataTooNew extends GatehouseError<'DataTooNew'> {}
/** {capability} did not finish in {timeout_seconds} s. */
export class DeadlineExceeded extends GatehouseError<'DeadlineExceeded'> {}
/** The content that arrived for {path} has the sha256 {sha256}, not {expected}; it was not kept. */
export class DigestMismatch extends GatehouseError<'DigestMismatch'> {}
/** The folder {path} is not empty. */
export class DirectoryNotEmpty extends GatehouseError<'DirectoryNotEmpty'> {}
/** Expected {expected} replacements, found {found}. */
export class EditMismatch extends GatehouseError<'EditMismatch'> {}
/** This request cannot be approved with changes: {detail} */
export class EditRefused extends GatehouseError<'EditRefused'> {}
/** Already {waiting} requests to local models wait: {detail} */
export class EngineBusy extends GatehouseError<'EngineBusy'> {}
/** The engine of local models ended: {detail} */
export class EngineFailed extends GatehouseError<'EngineFailed'> {}
/** The engine of local models is not ready: {reason} */
export class EngineNotInstalled extends GatehouseError<'EngineNotInstalled'> {}
/** The engine could not be installed: {detail} */
export class EngineSetupFailed extends GatehouseError<'EngineSetupFailed'> {}
/** Entry {id} is not among those that are listed: {detail} */
export class EntryNotListed extends GatehouseError<'EntryNotListed'> {}
/** The variable {name} cannot be set: {detail} */
export class EnvironmentRefused extends GatehouseError<'EnvironmentRefused'> {}
/** The event {event_id} has changed: its version is {version} now, not {expected}. */
export class EventChanged extends GatehouseError<'EventChanged'> {}
/** There is no event {event_id} in the calendars. */
export class EventNotFound extends GatehouseError<'EventNotFound'> {}
/** The service stopped while {approval_id} ran. It is not known whether it took effect, and it is not run again. */
export class ExecutionInterrupted extends GatehouseError<'ExecutionInterrupted'> {}
/** The audit log did not get to its target: {detail} */
export class ExportFailed extends GatehouseError<'ExportFailed'> {}
/** {path} has changed: its sha256 is {sha256}. */
export class FileChanged extends GatehouseError<'FileChanged'> {}
/** There is no file at {path}. */
export class FileNotFound extends GatehouseError<'FileNotFound'> {}
/** {path} has {size_bytes} bytes; at most {limit_bytes} fit. */
export class FileTooLarge extends GatehouseError<'FileTooLarge'> {}
/** There is no folder {folder} to put {path} in. */
export class FolderNotFound extends GatehouseError<'FolderNotFound'> {}
/** The model {model} cannot do this: {detail} */
export class GenerationRefused extends GatehouseError<'GenerationRefused'> {}
/** Git ended with an error: {detail} */
export class GitFailed extends GatehouseError<'GitFailed'> {}
/** Git refused this: {detail} */
export class GitRefused extends GatehouseError<'GitRefused'> {}
/** There is no standing grant {grant_id}. */
export class GrantNotFound extends GatehouseError<'GrantNotFound'> {}
/** This server does not answer for the host {host}. */
export class HostNotAllowed extends GatehouseError<'HostNotAllowed'> {}
/** The host {host} cannot be reached from here. */
export class HostUnreachable extends GatehouseError<'HostUnreachable'> {}
/** Gatehouse failed; its log has the cause under {correlation_id}. */
export class InternalError extends GatehouseError<'InternalError'> {}
/** The arguments do not fit {capability}: {detail} */
export class InvalidArguments extends GatehouseError<'InvalidArguments'> {}
/** {origin}: {detail} */
export class InvalidConfiguration extends GatehouseError<'InvalidConfiguration'> {}
/** {path} is not {encoding}: {detail} */
export class InvalidEncoding extends GatehouseError<'InvalidEncoding'> {}
/** The header {header} cannot be sent: {detail} */
export class InvalidHeader extends GatehouseError<'InvalidHeader'> {}
/** The key is not usable: {detail} */
export class InvalidKey extends GatehouseError<'InvalidKey'> {}
/** Invalid params: {detail} */
export class InvalidParams extends GatehouseError<'InvalidParams'> {}
/** The path is not usable: {detail} */
export class InvalidPath extends GatehouseError<'InvalidPath'> {}
/** The pattern is not usable: {detail} */
export class InvalidPattern extends GatehouseError<'InvalidPattern'> {}
/** Mail cannot be sent to {address}: {detail} */
export class InvalidRecipient extends GatehouseError<'InvalidRecipient'> {}
/** {ref} is not a usable commit or branch: {detail} */
export class InvalidRef extends GatehouseError<'InvalidRef'> {}
/** Invalid request: {detail} */
export class InvalidRequest extends GatehouseError<'InvalidRequest'> {}
/** The schedule is not usable: {detail} */
export class InvalidSchedule extends GatehouseError<'InvalidSchedule'> {}
/** {path} is a folder. */
export class IsADirectory extends GatehouseError<'IsADirectory'> {}
/** There is no job {job_id}. */
export class JobNotFound extends GatehouseError<'JobNotFound'> {}
/** Only the dashboard accepts passwords. */
export class LoginElsewhere extends GatehouseError<'LoginElsewhere'> {}
/** There is no valid login {id}. */
export class LoginNotFound extends GatehouseError<'LoginNotFound'> {}
/** {approval_id} is critical: it is approved within {minutes} minutes of a login. */
export class LoginTooOld extends GatehouseError<'LoginTooOld'> {}
/** There are copies of {message_id} in {folders}. */
export class MailAmbiguous extends GatehouseError<'MailAmbiguous'> {}
/** There is no mail folder {folder}. */
export class MailFolderNotFound extends GatehouseError<'MailFolderNotFound'> {}
/** There is no message {message_id} in the mailbox. */
export class MailNotFound extends GatehouseError<'MailNotFound'> {}
/** This cannot be done with mail: {detail} */
export class MailRefused extends GatehouseError<'MailRefused'> {}
/** Agent {agent} has {limit} messages waiting already. */
export class MailboxFull extends GatehouseError<'MailboxFull'> {}
/** The message has {size_bytes} bytes; at most {limit_bytes} fit. */
export class MessageTooLarge extends GatehouseError<'MessageTooLarge'> {}
/** {path} answers {allowed}, not {method}. */
export class MethodNotAllowed extends GatehouseError<'MethodNotAllowed'> {}
/** There is no method {method}. */
export class MethodNotFound extends GatehouseError<'MethodNotFound'> {}
/** The model {id} is being installed. */
export class ModelBusy extends GatehouseError<'ModelBusy'> {}
/** The file of {id} is not the one that was reviewed: its sha256 is {found}, not {expected}. */
export class ModelHashMismatch extends GatehouseError<'ModelHashMismatch'> {}
/** The file of {id} is not a model that may be loaded: {detail}. */
export class ModelHeaderRefused extends GatehouseError<'ModelHeaderRefused'> {}
/** There is no model {id}. */
export class ModelNotFound extends GatehouseError<'ModelNotFound'> {}
/** The model {id} is not installed: {detail} */
export class ModelNotInstalled extends GatehouseError<'ModelNotInstalled'> {}
/** The model {id} is in quarantine: {reason} */
export class ModelQuarantined extends GatehouseError<'ModelQuarantined'> {}
/** The file of {id} does not have the {size_bytes} bytes that its entry promises: {detail} */
export class ModelSizeMismatch extends GatehouseError<'ModelSizeMismatch'> {}
/** The file of {id} cannot be fetched: {detail} */
export class ModelSourceFailed extends GatehouseError<'ModelSourceFailed'> {}
/** The model {id} needs about {needs_bytes} bytes of memory, and {available_bytes} are free. */
export class ModelTooLarge extends GatehouseError<'ModelTooLarge'> {}
/** Nothing was moved: {detail}. */
export class MoveRefused extends GatehouseError<'MoveRefused'> {}
/** No model is named, and none is used by default. */
export class NoModelChosen extends GatehouseError<'NoModelChosen'> {}
/** This call belongs to no session: {detail} */
export class NoSession extends GatehouseError<'NoSession'> {}
/** This invitation is not valid: it was used or replaced, or is older than 10 minutes. */
export class NodeInviteInvalid extends GatehouseError<'NodeInviteInvalid'> {}
/** There is no node {name}. */
export class NodeNotFound extends GatehouseError<'NodeNotFound'> {}
/** This node does not serve: {detail}. */
export class NodeUnfit extends GatehouseError<'NodeUnfit'> {}
/** {path} is not a folder. */
export class NotADirectory extends GatehouseError<'NotADirectory'> {}
/** {path} is not a regular file. */
export class NotARegularFile extends GatehouseError<'NotARegularFile'> {}
/** There is no git repository at {path}: {detail} */
export class NotARepository extends GatehouseError<'NotARepository'> {}
/** Installing {id} takes {needed_bytes} more bytes, and {free_bytes} may be written on this disk. */
export class NotEnoughDisk extends GatehouseError<'NotEnoughDisk'> {}
/** {path} cannot be run: {detail} */
export class NotExecutable extends GatehouseError<'NotExecutable'> {}
/** {path} does not exist. */
export class NotFound extends GatehouseError<'NotFound'> {}
/** This cannot be written to the audit log as it is, so it does not run: {detail} */
export class NotRecordable extends GatehouseError<'NotRecordable'> {}
/** This write cannot be undone: {detail} */
export class NotUndoable extends GatehouseError<'NotUndoable'> {}
/** There is nothing to commit: {detail} */
export class NothingToCommit extends GatehouseError<'NothingToCommit'> {}
/** No target of notifications is called {name}. */
export class NotificationTargetNotFound extends GatehouseError<'NotificationTargetNotFound'> {}
/** There is no operator {name}. */
export class OperatorNotFound extends GatehouseError<'OperatorNotFound'> {}
/** Requests from the origin {origin} are refused. */
export class OriginNotAllowed extends GatehouseError<'OriginNotAllowed'> {}
/** The service stopped during the call; its effect is unknown. */
export class OutcomeUnknown extends GatehouseError<'OutcomeUnknown'> {}
/** {capability} is outside of the tool set of {agent}; an operator changes it with `gatehouse agent edit {agent} --tools`. */
export class OutsideToolSet extends GatehouseError<'OutsideToolSet'> {}
/** The server is busy: {detail} */
export class Overloaded extends LimitError<'Overloaded'> {}
/** The body is not valid JSON: {detail} */
export class ParseError extends GatehouseError<'ParseError'> {}
/** There is no part {part} of {id} at {service}. */
export class PartNotFound extends GatehouseError<'PartNotFound'> {}
/** Policy does not let this call touch {path}: {detail}. */
export class PathNotPermitted extends GatehouseError<'PathNotPermitted'> {}
/** {path} is outside the folders of this agent. */
export class PathOutOfScope extends GatehouseError<'PathOutOfScope'> {}
/** The role {role} may not do this; it needs {permission}. */
export class PermissionDenied extends GatehouseError<'PermissionDenied'> {}
/** The operating system does not let the service touch {path}. */
export class PermissionRefused extends GatehouseError<'PermissionRefused'> {}
/** The policy file {file} was changed by somebody else; its version is {version} now. */
export class PolicyChanged extends GatehouseError<'PolicyChanged'> {}
/** Policy does not let {agent} use {capability}: {detail} */
export class PolicyDenied extends GatehouseError<'PolicyDenied'> {}
/** {file}:{line}:{column}: {detail} */
export class PolicyInvalid extends GatehouseError<'PolicyInvalid'> {}
/** No valid policy is loaded, so nothing runs: {detail} */
export class PolicyUnavailable extends GatehouseError<'PolicyUnavailable'> {}
/** Port {port} of {host}, for {surface}, cannot be used: {detail} */
export class PortUnavailable extends GatehouseError<'PortUnavailable'> {}
/** Process {process_id} runs on the node {node}. */
export class ProcessElsewhere extends GatehouseError<'ProcessElsewhere'> {}
/** There is no process {process_id}. */
export class ProcessNotFound extends GatehouseError<'ProcessNotFound'> {}
/** Process {process_id} is {state}. */
export class ProcessNotRunning extends GatehouseError<'ProcessNotRunning'> {}
/** There is no program {program} that may run. */
export class ProgramNotFound extends GatehouseError<'ProgramNotFound'> {}
/** The prompt is too long for {model}: {detail} */
export class PromptTooLong extends GatehouseError<'PromptTooLong'> {}
/** {path} is protected: {detail} */
export class ProtectedPath extends GatehouseError<'ProtectedPath'> {}
/** The remote did not accept {branch}: {detail} */
export class PushRejected extends GatehouseError<'PushRejected'> {}
/** There is no question {question_id} that waits: it was answered, or its call has ended. */
export class QuestionNotFound extends GatehouseError<'QuestionNotFound'> {}
/** The question {question_id} of {upstream} was withdrawn, and an answer reaches nobody: {detail} */
export class QuestionWithdrawn extends GatehouseError<'QuestionWithdrawn'> {}
/** At most {limit} {what} are allowed. */
export class QuotaExceeded extends GatehouseError<'QuotaExceeded'> {}
/** Rate limit exceeded: {limit} calls/{window} for {match} */
export class RateLimited extends LimitError<'RateLimited'> {}
/** {path} is in a read-only folder. */
export class ReadOnlyRoot extends GatehouseError<'ReadOnlyRoot'> {}
/** The redirect was not followed: {detail} */
export class RedirectRefused extends GatehouseError<'RedirectRefused'> {}
/** This approval cannot be remembered: {detail} */
export class RememberRefused extends GatehouseError<'RememberRefused'> {}
/** The remote {host} did not take part: {detail} */
export class RemoteRefused extends GatehouseError<'RemoteRefused'> {}
/** The repository at {path} is locked by {lock}, which is {age_seconds} s old. */
export class RepoLocked extends GatehouseError<'RepoLocked'> {}
/** This request is not allowed: {detail} */
export class RequestNotAllowed extends GatehouseError<'RequestNotAllowed'> {}
/** The answer of {host} cannot be used: {detail} */
export class ResponseRefused extends GatehouseError<'ResponseRefused'> {}
/** The answer has more than {limit_bytes} bytes. */
export class ResponseTooLarge extends GatehouseError<'ResponseTooLarge'> {}
/** The result has {size_bytes} bytes; at most {limit_bytes} fit. */
export class ResultTooLarge extends GatehouseError<'ResultTooLarge'> {}
/** There is no rollback point: {detail} */
export class RollbackNotFound extends GatehouseError<'RollbackNotFound'> {}
/** The rollback point {rollback_id} is {status}. */
export class RollbackNotReady extends GatehouseError<'RollbackNotReady'> {}
/** The write cannot be undone now: {detail} */
export class RollbackRefused extends GatehouseError<'RollbackRefused'> {}
/** The sandbox did not come up: {detail} */
export class SandboxFailed extends GatehouseError<'SandboxFailed'> {}
/** The sandbox cannot be made as asked for: {detail} */
export class SandboxRefused extends GatehouseError<'SandboxRefused'> {}
/** No sandbox works here, so nothing runs: {reason} */
export class SandboxUnavailable extends GatehouseError<'SandboxUnavailable'> {}
/** There is no schedule {schedule_id}. */
export class ScheduleNotFound extends GatehouseError<'ScheduleNotFound'> {}
/** There is already a secret {name}. */
export class SecretExists extends GatehouseError<'SecretExists'> {}
/** No secret {name} may be used by {agent} with {capability} for {host}. */
export class SecretNotAllowed extends GatehouseError<'SecretNotAllowed'> {}
/** There is no secret {name}. */
export class SecretNotFound extends GatehouseError<'SecretNotFound'> {}
/** The value of {name} cannot be kept: {detail} */
export class SecretRefused extends GatehouseError<'SecretRefused'> {}
/** There are several services: {services}. */
export class ServiceAmbiguous extends GatehouseError<'ServiceAmbiguous'> {}
/** The connection does not work: {detail} */
export class ServiceConnectionFailed extends GatehouseError<'ServiceConnectionFailed'> {}
/** There is no kind of service called {kind}. */
export class ServiceKindNotFound extends GatehouseError<'ServiceKindNotFound'> {}
/** There is no service {service} that {agent} may use. */
export class ServiceNotFound extends GatehouseError<'ServiceNotFound'> {}
/** The service cannot be set up like this: {detail} */
export class ServiceSettingsInvalid extends GatehouseError<'ServiceSettingsInvalid'> {}
/** The service {service} cannot be used now: {detail} */
export class ServiceUnavailable extends GatehouseError<'ServiceUnavailable'> {}
/** There is no open session {session_id} of this agent. */
export class SessionNotFound extends GatehouseError<'SessionNotFound'> {}
/** This setup link is not valid: it was used or replaced, or is older than 30 minutes. */
export class SetupLinkInvalid extends GatehouseError<'SetupLinkInvalid'> {}
/** The key {key} does not exist. */
export class StateNotFound extends GatehouseError<'StateNotFound'> {}
/** This would take {size_bytes} bytes in all; at most {limit_bytes} fit. */
export class StateQuotaExceeded extends GatehouseError<'StateQuotaExceeded'> {}
/** There is no room left for {path}. */
export class StorageFull extends GatehouseError<'StorageFull'> {}
/** The store cannot be used: {detail} */
export class StorageUnavailable extends GatehouseError<'StorageUnavailable'> {}
/** The store is damaged: {place} cannot be read. */
export class StoreDamaged extends GatehouseError<'StoreDamaged'> {}
/** The store was not opened: {detail}. */
export class StoreMismatch extends GatehouseError<'StoreMismatch'> {}
/** There is no subscription {subscription_id}. */
export class SubscriptionNotFound extends GatehouseError<'SubscriptionNotFound'> {}
/** The answer was not complete within {timeout_seconds} s. */
export class TimedOut extends GatehouseError<'TimedOut'> {}
/** A secure connection to {host} could not be made: {detail} */
export class TlsFailed extends GatehouseError<'TlsFailed'> {}
/** Too many failed logins from this address. */
export class TooManyFailures extends LimitError<'TooManyFailures'> {}
/** {path} has more than one hard link, which this folder refuses. */
export class TooManyLinks extends GatehouseError<'TooManyLinks'> {}
/** Too many passwords are being checked at once. */
export class TooManyLogins extends GatehouseError<'TooManyLogins'> {}
/** Agent {agent} already has {limit} approvals pending. */
export class TooManyPending extends LimitError<'TooManyPending'> {}
/** There is nothing in the trash under {trash_id}. */
export class TrashNotFound extends GatehouseError<'TrashNotFound'> {}
/** There is no capability {capability}. */
export class UnknownCapability extends UnknownNameError<'UnknownCapability'> {}
/** Git is not run on {path}, because its configuration sets {key}, which is not on the list of harmless settings. */
export class UnsafeRepoConfig extends GatehouseError<'UnsafeRepoConfig'> {}
/** Git is not run on {path}, because it could be led elsewhere: {detail} */
export class UnsafeRepository extends GatehouseError<'UnsafeRepository'> {}
/** The body must be plain JSON: {detail} */
export class UnsupportedMediaType extends GatehouseError<'UnsupportedMediaType'> {}
/** The upstream server {upstream} shows another certificate than the one that was accepted: it is {found} and was {accepted}. Nothing was sent to it. */
export class UpstreamCertificateChanged extends GatehouseError<'UpstreamCertificateChanged'> {}
/** The server {upstream} was changed meanwhile; it is at version {version} now. */
export class UpstreamChanged extends GatehouseError<'UpstreamChanged'> {}
/** The upstream server {upstream} is used with credentials of each agent alone, and {agent} has none. */
export class UpstreamCredentialMissing extends GatehouseError<'UpstreamCredentialMissing'> {}
/** The upstream server {upstream} does not answer: {detail} */
export class UpstreamFailed extends GatehouseError<'UpstreamFailed'> {}
/** The login at {upstream} is refused: {detail} */
export class UpstreamLoginRefused extends GatehouseError<'UpstreamLoginRefused'> {}
/** The upstream server {upstream} wants a login, which a person does once: gatehouse upstream login {upstream} */
export class UpstreamNeedsLogin extends GatehouseError<'UpstreamNeedsLogin'> {}
/** There is no upstream server {upstream}. */
export class UpstreamNotFound extends GatehouseError<'UpstreamNotFound'> {}
/** The tool {tool} of {upstream} is out of service: {detail} */
export class UpstreamNotReviewed extends GatehouseError<'UpstreamNotReviewed'> {}
/** The upstream server {upstream} is refused: {detail} */
export class UpstreamRefused extends GatehouseError<'UpstreamRefused'> {}
/** {detail} */
export class UpstreamToolFailed extends GatehouseError<'UpstreamToolFailed'> {}
/** This address is not allowed: {detail} */
export class UrlNotAllowed extends GatehouseError<'UrlNotAllowed'> {}
/** There is no user token {id}. */
export class UserTokenNotFound extends GatehouseError<'UserTokenNotFound'> {}
/** The value has {size_bytes} bytes as JSON; at most {limit_bytes} fit. */
export class ValueTooLarge extends GatehouseError<'ValueTooLarge'> {}
/** The vault is {status}: {detail} */
export class VaultConflict extends GatehouseError<'VaultConflict'> {}
/** The vault is locked, so no secret can be used: {detail} */
export class VaultLocked extends GatehouseError<'VaultLocked'> {}
/** The stored data of {what} is not what the vault wrote, so it is not used. */
export class VaultTampered extends GatehouseError<'VaultTampered'> {}
/** The key {key} is at version {version}, not {expected}: {history}. */
export class VersionConflict extends GatehouseError<'VersionConflict'> {}
/** There is no watch {watch_id}. */
export class WatchNotFound extends GatehouseError<'WatchNotFound'> {}
/** This password cannot be used: {detail} */
export class WeakPassword extends GatehouseError<'WeakPassword'> {}
/** The workspace of {agent} is not on this node: {detail}. */
export class WorkspaceElsewhere extends GatehouseError<'WorkspaceElsewhere'> {}
/** After {attempts} attempts nothing was done, the last time because {detail} */
export class WriteGivenUp extends GatehouseError<'WriteGivenUp'> {}
/** The status of {write_id} is {status}: {detail}. */
export class WriteNotBuffered extends GatehouseError<'WriteNotBuffered'> {}
/** The status of {write_id} is {status}: there is nothing to decide. */
export class WriteNotDead extends GatehouseError<'WriteNotDead'> {}
/** There is no buffered write {write_id}. */
export class WriteNotFound extends GatehouseError<'WriteNotFound'> {}
/** The service did not take it: {detail} */
export class WriteRefused extends GatehouseError<'WriteRefused'> {}
/** This is not the passphrase of the vault. */
export class WrongPassphrase extends GatehouseError<'WrongPassphrase'> {}
