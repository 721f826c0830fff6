-- A site's job_submit.lua with ten policies, as such scripts are written today. docs/from-lua.md
-- goes through it piece by piece, and rules.toml beside it says the same as rules.

local GIB = 1024                        -- Slurm counts memory in MiB.
local MAINTENANCE = { from = 1796104800, to = 1796148000 } -- 2026-12-01, 6:00 to 18:00 UTC
local OPERATORS = { [0] = true, [900] = true }
local GPUS_TO_CPUS = 8
local LICENCES = { ["/projects/cfd/"] = "fluent:4", ["/projects/stats/"] = "matlab:1" }
local RESERVED_NAMES = { healthcheck = true, acceptance = true }

local function is_unset(number)
  return number == nil or number == slurm.NO_VAL or number == slurm.NO_VAL16 or number == slurm.NO_VAL64
end

local function refuse(code, message)
  slurm.log_user("%s: %s (see https://hpc.example.org/rules#%s)", code, message, code)
  return slurm.ERROR
end

-- GPUs in one of Slurm's lists of resources: gpu, gpu:2, gres:gpu:a100:2, gres/gpu:a100=2.
local function gpus_of(text)
  local count = 0
  for entry in string.gmatch(text or "", "[^,]+") do
    entry = string.gsub(entry, "^gres[:/]", "")
    if entry == "gpu" or string.find(entry, "^gpu[:=]") then
      count = count + (tonumber(string.match(entry, "[:=](%d+)$")) or 1)
    end
  end
  return count
end

local function nodes(job)
  if is_unset(job.min_nodes) or job.min_nodes == 0 then return 1 end
  return job.min_nodes
end

local function tasks(job)
  if is_unset(job.num_tasks) then return nodes(job) end
  return job.num_tasks
end

local function gpus(job)
  return math.max(gpus_of(job.tres_per_job), gpus_of(job.tres_per_node) * nodes(job), gpus_of(job.tres_per_task) * tasks(job))
end

local function cpus(job)
  local each = is_unset(job.cpus_per_task) and 1 or job.cpus_per_task
  return tasks(job) * each
end

local function memory_per_node(job)
  if job.min_mem_per_node ~= nil then return job.min_mem_per_node end
  if job.min_mem_per_cpu ~= nil then return job.min_mem_per_cpu * cpus(job) / nodes(job) end
  return 0
end

function slurm_job_submit(job, partitions, submit_uid)
  -- 1. Operators do as they please.
  if OPERATORS[submit_uid] then return slurm.SUCCESS end

  local is_batch = job.script ~= nil and job.script ~= ""

  -- 2. Maintenance: nobody submits meanwhile.
  if os.time() >= MAINTENANCE.from and os.time() < MAINTENANCE.to then
    return refuse("E_MAINTENANCE", "no jobs are taken until the maintenance is over")
  end

  -- 3. Names that belong to the site.
  if job.name ~= nil and RESERVED_NAMES[job.name] then
    return refuse("E_NAME", "the job name " .. job.name .. " is reserved")
  end

  -- 4. A partition where none was chosen: by GPUs, memory, and time.
  if job.partition == nil then
    if gpus(job) > 0 then
      job.partition = "gpu"
    elseif memory_per_node(job) > 256 * GIB then
      job.partition = "bigmem"
    elseif not is_unset(job.time_limit) and job.time_limit <= 60 then
      job.partition = "short"
    else
      job.partition = "long"
    end
  end

  -- 5. A time limit where none was given; interactive jobs have eight hours at the most.
  if is_unset(job.time_limit) then
    if is_batch then job.time_limit = 240 else job.time_limit = 60 end
    slurm.log_user("no time limit was given: it is %d minutes", job.time_limit)
  end
  if not is_batch and job.time_limit > 480 then
    job.time_limit = 480
    slurm.log_user("interactive jobs have at most eight hours")
  end

  -- 6. GPU partitions are for GPUs, with as many CPUs as go with them.
  if job.partition == "gpu" then
    local wanted = gpus(job)
    if wanted == 0 then
      return refuse("E_GPU_NONE", "the partition gpu is for jobs that ask for GPUs")
    end
    if cpus(job) > wanted * GPUS_TO_CPUS then
      return refuse("E_GPU_CORES", string.format("%d CPUs are more than the %d that go with %d GPUs", cpus(job),
        wanted * GPUS_TO_CPUS, wanted))
    end
  end

  -- 7. All of a node's memory only with the whole node.
  if job.min_mem_per_node == 0 and job.shared ~= 0 then
    return refuse("E_MEM_ALL", "--mem=0 takes all memory of a node: ask for --exclusive as well")
  end

  -- 8. Nodes are chosen by Slurm.
  if job.req_nodes ~= nil and job.reservation == nil then
    return refuse("E_NODELIST", "--nodelist is for jobs in a reservation")
  end

  -- 9. Licences of the programs that a project's directory stands for.
  for directory, licence in pairs(LICENCES) do
    if job.work_dir ~= nil and string.sub(job.work_dir, 1, #directory) == directory and job.licenses == nil then
      job.licenses = licence
    end
  end

  -- 10. Long jobs are of the QOS long, and say so in the record.
  if job.time_limit > 2880 and job.qos == nil then
    job.qos = "long"
    job.admin_comment = "qos chosen by the site"
  end

  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, modify_uid)
  if OPERATORS[modify_uid] then return slurm.SUCCESS end
  -- Nobody gives their job more time once it is submitted.
  if not is_unset(job.time_limit) and record.time_limit ~= nil and job.time_limit > record.time_limit then
    return refuse("E_LONGER", "the time limit of a job can only be lowered")
  end
  return slurm.SUCCESS
end

slurm.log_info("job_submit.lua is loaded")
return slurm.SUCCESS
