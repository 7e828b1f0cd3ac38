"""Words that profilers, frameworks, compilers and kernel libraries put into names, and thus tell nothing of their user.

From the names of TensorFlow's ops, Keras' layers, JAX's primitives, HLO's opcodes and XLA's passes, of CUDA's and
ROCm's runtimes and libraries, of threads and stats, and from what profilers say when something fails. In lower case.
"""

from __future__ import annotations

WORDS = frozenset(
    """
abc abort aborted abs abstractify acc access accessed accidental accum accumulate accumulated accumulator accuracy
acos acosh acquire activation activations active activity actual ad ada adadelta adafactor adagrad adam adamw adaptive
add additive addr address addressable addupdate adjoint adjust af after afz again agent aggregate aggregator aiter alg
algorithm algsimp alias aliasing align aligna alignb aligned alike all alloc allocate allocated allocation allocations
allocator allow allreduce alpha already amd ampere amsgrad an analyzer and angle annotated annotation annotations
anonymous another any api apis append apply approx approximate arbitrary area arg argmax argmin args argument
arguments arithmetic array arraylike arrive as asarray asin asinh asm assert assertion assign assignaddvariableop
assigner assignment assignments assignsubvariableop assignvariableop astype async asyncifier at atan atanh aten atomic
atomics attention attn attribute attributes attrs audio aug augment auto autotune autotuner autotuning av availability
available aval average averagepooling averaging avg avgpool await axes axis back backend backends background backprop
backward band banded bandwidth barrier base based batch batched batches batching batchnorm bbs bcast bcastargs be beam
because been before begin behavior bessel best beta betainc bf bfc bfloat bhsd bias biasadd bicubic bidirectional
bilinear binary bincount bind binomial bit bitcast bits bitwise bk blackwell block blocking blocks blur bm bmp bn body
bool boolean boosted bootstrap borrowed bottleneck bound boundaries bounding box boxes branch breakdown bridge
brightness broadcast broadcasting bss bucket bucketize budget buffer buffered buffers build builder building builtins
bulk bundle bus busy but bw bwd by byte bytes bz cache cached cacheimpl calculate call callable callback callbacks
called calls can canary cancel cancelable canceled cancellation cancelled candidate cannot canon canonical
canonicalization canonicalize canonicalized canonicalizer cap capability capacitor capacity capture captured captures
cardinality cas case cast cat catarray categorical category causal cbrt cc cdna ceil cell cells center centered cgemm
chain channel char check checker checkpoint checkpoints chip cholesky choose chunk chunks ck clamp cleanup clear
client clients climb clip clock clone cloned close closed closure cls cluster clz cmem cmp code codegen col collect
collected collection collective collectives collector color column columns combine combined combiner commit common
communicator compaction compare comparison compatible compilation compile compiled compiler compiling complete
completed completion complex component components composed composite compress compressed computation compute concat
concatenate concrete cond conditional config configuration configure conformer conj conjugate const constant
constraint construct consume consumer container contains context contextlib contiguous continuation contrast contrastv
control conv convd conversion convert converter convolution convolutions convolve coop cooperative copies copy
copysign core cores correlation cos cosh cost could count counter counting counts courier cpp cpu cpy create creator
crop cropping cross crossentropy crossing cs cse csv ct cta ctc ctrl ctx cu cub cublas cublaslt cuda cudadriver cudart
cudnn cufft cuh cummax cummin cumprod cumsum cumulative cunn cupti curand current cusolver cusparse custom cut cute
cutlass cwise cxx cycle cycles da data dataset datasets datatype dawsn db dce de deadline deallocation debug decay
decode decoder decompose decomposer decomposition deduplicated deduplicator deep default defaults deferred deferring
define definition defragment defun degenerate degeneration del delay delete deleted delinearize delta denied dense
densenet dependencies dependency dependents deprecated deps depth depthwise dequant dequantize dequeue deref descent
descheduler deserialize dest destination destroy destroyed detail details detector determinant deterministic dev
device devices dgemm dgrad diag dictcomp did diff difference digamma dilated dilation dim dimension dimensions dims
directed directory disable discretization dispatch dispatcher distance distorted distributed distribution div divide
divisor dlerror dll dlopen dma do does domain donation done dot double down downsample downsweep dqdkdv draw driver
drop dropout dropped dsizes dst dto dtod dtoh dtype dtypes due dummy duration dword dyld dylib dynamic each eager
eagerly easy echo edge edges edit edtype effect efficientnet eig eigen eigh einshape einsum elapsed elastic elem
element elements elementwise elems elemwise elide elif elimination else elu em embedded embedding embeddings emit
emitter emitting empty enabled encode encoder encoding end ended ends engine engines enhancer enqueue enqueuing
ensemble ensure enter entropy entry enum env environment epilogue episode epoch epochs eps eq equal equalization
equation erase erasing erf erfc erfinv error errors escape estimate estimator euclidean eval evaluate evaluation
evaluator even event events evict exact example examples exceeded except exception excite exclude excluded exec
executable execute executed executing execution executor exhausted existing exists exit exp expand expander expect
expensive experimental expert experts expint explicit expm exponential export exported ext extend extended extension
extensions external extract fail failed failure fake fallback false fast fastest fc fd feature fermi fetch ffi ffn ffs
fft fftnd fifo file filename files filespec fill filter filtered filtering final finalize find fingerprint finish
finished finite first fit fixed fixup flag flash flat flatten flattener flax flip float floats floor floordiv flops
flow flush fma fmha fn fnuz fold folding for force forced forever format fort forward found fp fprint fprop fractional
fragmentation frame framework free freeze frequency fresnel from fromlist frontend frozen ftrl full fully func
function functional functions functor fused fusible fusion fusions future fwd fx gains game gamma gammabeta garbage
gate gates gather gatherv gaussian gb gbps geglu gelu gemm gemmk gemmsn gemv gemvx gen general generate generated
generation generator generic genexpr get getitem gflops gfx ghz gib gif gigabytes glimpse global globalaveragepooling
globalmaxpooling globals gls glu gmem gmma gpu gpus grad gradient gradients grads grams graph graphs grayscale greater
greedy grid griddepcontrol group grouped groupnorm groups grpc gru gtcx guarantee guaranteed guzzler gz had haiku half
half2 handle handler hard has hasattr hash hashed hashing have hbm hcudnn head heartbeat helper helpful hgemm hhs hi
high hill hip hipblaslt histogram hits hlo hmma hold holds hopper host hosts hot hpp hsa hsh hss hsv hto htod htoh hue
hybrid hz id identity idle ids idx if ifft ifftnd ifrt igamma igammac igemm ignore ii iiiiiiiiiff iiiiiiiiiiffi im
imag image imma immutable impl implicit impls import importlib in incarnation inception include included including
incomplete index indexed indices inexact inf infeed inference infiniband info init initialization initialize
initialized initializer inject inline inliner inner inplace input inputs insd insert insertion inspect inst instance
instancecheck instantiate instantiated instruction instructions insufficient int integer intel interior interleave
intermediate internal interval into intra ints inv invalid invariant inverse invert invoke io iota ipl irfft irfftnd
is isidentifier isinstance isotonic isscalar issubclass issubdtype issue it item items iter iteration iterations
iterator iteratorgetnext iterators its jax jaxlib jaxpr jaxtype jf jit jitted jitter job join jpeg json jvp jxl kargs
kb kd kentry kepler keras kernel kernels key keys kf kib kind kmc kmeans krsc ks kv kwargs label lambda large last
latency launch launcher launches lax layer layernorm layers layout lb ld ldg ldgsts lds ldw leading leaf leaky learned
leaves left legacy legalize legalizer len length less level levels lgamma lhs libcublas libcuda libcudart libcudnn
libcupti libraries library light like limit limited lin line linear linearize linearized linkage lion list listcomp
listener lists lite literal live ll llo llvm lm lmdb ln lo load loaded loading local localhost lock log logarithm
logical logistic logits logsoftmax logsumexp long lookup lookups loop loops loss losses lost lovelace lower lowering
lrn ls lstm lstmv lu main major make malloc managed manager many map mapping marker mask masked masking mat match
matched matching matmul matrix matshapes max maximum maxpool maxpooling maxwell maybe mb mda mdl mean medium megabytes
megachip megacore megascale mel mem members memcpy memcpydtod memcpydtoh memcpyhtod memcpyhtoh memory memset memtype
merge merged merger mesh meta metadata methods metric metrics mfcc mgpu mhlo mib min minibatching minimum minor minus
minute minutes miopen mirror mish mismatch miss missing mix mixed mkl mklcpu mlir mlp mma mobilenet mocked mod
modality mode model models module modules moe moments momentum monitor mono monomorphic more mosaic most motion move
mover moving mpmd ms mul mulhi multi multicast multideviceiteratorgetnextfromshard multihead multimem multinomial
multiple multiples multiply multiprocessor mutable mutated mutex nadam naive name named namedtuple names nan native
nccl ncclkernel ncdhw nchw nchwc nd ndhwc ndim ndtri nearest neg negate neighbor neighbors nest nested new next
nextafter nhwc nhwckrsc nll nn nnn nnt no nodes noise non none nonfused nontraced norm normal normalization normalized
normalizer not notify np ns nsight nt nth ntn ntt null nullary num numa number numeric numerics numpy numpyfunc nv
nvfuser nvidia nvjet nvlink nvls nvtx object occ occupancy of off offload offloader offloading offset offsets on one
onednn ones onesweep only op opaque open opened operand operation operations operator ops opt optax optimization
optimizations optimize optimizer optional options or orbax ordered ordinal other out outer outfeed output outputs
overhead overlaps overlay pack packed packing pad padded padder padding pageable pallas parallel parallelism param
parameter parameterized parameters params parent parse part partial partition partitioned partitionedcall partitioner
partitioning pascal pass passed passes patches path pathways pb pbroadcast pc pci pcie pct peak peek peer pending per
percent perf performance perm permission permissions permutation permute perspective pf phase philox picker pin
pingpong pinned pipeline pipeliner pipelining pitch pivot pj pjit pjrt pk placeholder placement plan planner platform
please plus pmap pmax pmin png pointer pointwise poisson policy polling polygamma polymorphic polynomial pool pooling
pop popcnt populate population position possible possibly post posterization potential pow power ppermute pre
preassign precision precv pred predict prediction predictions preduced prefetch prefix preflattened prelinearize
prelinearized prelu prepare preprocessing preserving prev prevent primary primitive primitives print priority private
privilege privileges prng prngkeys prob problem process prod produce produced producer product profile profiled
profiler profiling program programs proj projection projective promote prop propagate propagation proposals proto
protocol protos proximal ps psend psum pt ptop pu pure push put pvary pxla py pyfunc python pywrap qint qk qkv qqh qr
quality quant quantile quantize quantized query queue queues quick quint quotient radix ragged ram rampup rand random
range ranges rank rate raw rccl rd rdma rdna re read reader readvariableop ready real reassociate rebatch recip
reciprocal recompute record recording records recv reduce reduced reducer reduction reductions ref regex region
register registers regression regs regularization regularized release relu rem remainder remap remapping remat
rematerialization rematted remote remotecall removal remove remover reorder repeat replace replica replicas replicate
replicated requantization requantize request requested requests require required requires rescaling reserve reserved
reset reshape reshaping reshard residency residual resize resizing resnet resolve resource response responses restart
restore result results ret retain retrieve return retval reuse rev reverb reverse reversible rewrite rewriter rfft
rfftnd rgb rhs right ring ringll rint rms rmsnorm rmw rng rnn rnnv rocblas rocclr rocm rocprof roctracer roll root
rope rotary rotation round router row rows rpc rsqrt rt run runner running runtime runtimes safe same sample sampler
sampling saturation save saver savers sb sc scalar scalarizer scale scaled scales scan scatter schedule scheduled
scheduler scheduling sciui scope scoped script scudnn sdca sdpa search second seconds see seed seeds segment segments
select selector self selu semantics semaphore send sendrecv separable sequence sequenced sequencing sequential
serializable serialize serialized server servers service serving session set setter setup sflag sgd sgemm shape shaped
shapes shard sharded sharding shared sharpness shear shift shm short shot shrink shuffle shutdown sigmoid sign signal
signature signed silu simple simplification simplified simplifier simplify simt sin sine single sinh sink sinker
sinking size sized skip sleep sleepwalk slice slices sliding slinky sm small smem snapshot so sobol softmax softplus
softsign solarization solve sort sorted sorts source sources sp space span spanner spans sparse sparsecore spatial
spec specs spectral spectrogram spence split splitk splitkreduce splitkv splits splitter spmd spmem sql sqrt square
squared squeeze sram src sss sstable st stable stablehlo stack stacked stage stages standard standardization start
started startswith state stateful statefulpartitionedcall stateless states static stats status std stem step steps
stft stg stitch stitched stochastic stop stopped storage store strategy stream streams strided strides strideslice
string strip strong struct structure stub sub subclasscheck substr subtract subtype such suggested sum summaries
summary sunk support supported suppression svd swap swapaxes swiglu swish switch switchto symbol symbolic symmetric
sync synchronize synthetic sysmem system table take tan tanh tape target task tasks tb tc tcgen te temp temporary
tensile tensor tensordot tensorflow tensorop tensors teraflops terator test tester testing tests text texture tf tfd
tfe tflops tfr tfrecord tfrt than that the then theoretical these this those thread threadpool threads threefry thrust
thunk thunks tie tile tilelevel tiles tilesize tiling time timed timeline timeout timer timestamp tmem tmp tn tnn tnt
to token too top topk torch total tower towers tp tpu trace traceback traced traceme traceviewer tracing train
trainable trained trainer training traits transcode transfer transform transformer translate translation transpose
tree trees triangular tridiagonal trigger tril triton triu trivial true truediv truncate truncated try tsl tss tst
tsts tt tuple turing two txt type typed types typing ufuncs uint ul ull umma unary unavailable unbatch unbounded
uncompress undefined unet unhandled unicode unification uniform unigram unimplemented unique unit units unknown unload
unlock unmatched unnamed unpack unpin unravel unreachable unreduced unregister unrolled unsafe unsigned unsorted
unstack unstage unsupported until unwrap unzip up update upper upsample upsweep us usage use used user using util
utilization utils vae val valid validate validated value values var variable variables variance variant varlen vars
vary vec vector vectorization vectorized vega vendor verify version versions vgg via view vit vjp vmap vmem vocab void
volta volume wait waiting waits warm warmup warning warnings warpsize warpspecialized was wav weakref weaktype web
weight weighted weights were wgmma wgrad where while whole wi width window winograd with without wk wmma wo word work
worker wq wr wrap wrapped wrapper write writer wrw wv xdb xdivy xdl xdlops xla xline xlog xlogy xmap xmma xor xplane
xspace yes yield ynn yogi zero zeros zeta zgemm zip zoom
    """.split()
)
