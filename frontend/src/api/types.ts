/** What the server answers; `tb_profile_plugin/docs/http.md` describes the routes. */

export type {
  Contents,
  Param,
  Problem,
  Progress,
  Scaled,
  SessionDetails,
  SessionEntry,
  SessionFacts,
  SessionList,
  ToolEntry,
} from "../base/schema";
